#include "cli/timeline/chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "cli/render/table.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

using node::v1::ListTurnsResponse;
using node::v1::Turn;

constexpr char kHolds[] = "█";
constexpr char kWaits[] = "░";
constexpr char kElsewhere[] = "·";
constexpr double kShown = 0.25;  // least share of a column that is shown

struct Window {
  double begin = 0;
  double end = 0;
};

// A Row holds, for each column, the share of time in which a gang held its turn or waited for one.
struct Row {
  std::vector<double> held;
  std::vector<double> waited;
};

void Cover(std::vector<double>* columns, const Window& window, double from, double to) {
  const double each = (window.end - window.begin) / static_cast<double>(columns->size());
  from = std::max(from, window.begin);
  to = std::min(to, window.end);
  if (to <= from) return;
  const auto first = static_cast<std::size_t>((from - window.begin) / each);
  for (std::size_t c = first; c < columns->size(); ++c) {
    const double begin = window.begin + each * static_cast<double>(c);
    if (begin >= to) break;
    (*columns)[c] += std::max(0.0, std::min(to, begin + each) - std::max(from, begin)) / each;
  }
}

std::string Drawn(const Row& row) {
  std::string text;
  for (std::size_t c = 0; c < row.held.size(); ++c) {
    const bool holds = row.held[c] >= row.waited[c];
    text += std::max(row.held[c], row.waited[c]) < kShown ? kElsewhere : holds ? kHolds : kWaits;
  }
  return text;
}

double NewestOf(const ListTurnsResponse& turns) {
  double newest = 0;
  for (const Turn& turn : turns.turns()) {
    newest = std::max(newest, turn.has_ended_s() ? turn.ended_s() : turn.began_s());
  }
  return newest;
}

std::string Scale(std::size_t indent, std::size_t width, double seconds) {
  const std::string left = "-" + Number(seconds * 1000, seconds < 0.01 ? 1 : 0) + " ms";
  const std::string right = "newest";
  const std::size_t gap = width > left.size() + right.size() ? width - left.size() - right.size() : 1;
  return std::string(indent, ' ') + left + std::string(gap, ' ') + right + "\n";
}

}  // namespace

std::string Chart(const ListTurnsResponse& turns, double seconds, std::size_t width) {
  if (turns.turns().empty()) return "no turns were taken\n";
  const double newest = NewestOf(turns);
  const Window window{.begin = newest - seconds, .end = newest};
  std::map<std::string, std::map<std::string, Row>> gpus;
  std::size_t longest = 0;
  for (const Turn& turn : turns.turns()) {
    const double ended = turn.has_ended_s() ? turn.ended_s() : newest;
    if (ended < window.begin) continue;
    Row& row = gpus[turn.gpu_uuid()][turn.gang()];
    row.held.resize(width);
    row.waited.resize(width);
    Cover(&row.waited, window, turn.asked_s(), turn.began_s());
    Cover(&row.held, window, turn.began_s(), ended);
    longest = std::max(longest, turn.gang().size());
  }
  std::string text;
  for (const auto& [uuid, rows] : gpus) {
    text += "GPU " + uuid + "\n";
    for (const auto& [gang, row] : rows) {
      text += "  " + gang + std::string(longest - gang.size(), ' ') + "  " + Drawn(row) + "\n";
    }
  }
  text += Scale(longest + 4, width, seconds);
  return text + std::string(kHolds) + " holds the turn  " + kWaits + " waits for it\n";
}

std::string EventLine(const node::v1::TurnEvent& event) {
  std::string text;
  if (event.dropped() != 0) text = "(" + std::to_string(event.dropped()) + " events were lost here)\n";
  if (event.event() == "arrive" || event.event() == "watching") return text;
  text += Number(event.at_s(), 6) + "  GPU " + event.gpu_uuid() + "  ";
  // A damage may have no client.
  if (!event.gang().empty()) text += event.gang() + " rank " + std::to_string(event.rank()) + "  ";
  if (event.event() == "hold") {
    text += "holds the turn, waited " + Number(event.duration_ms(), 2) + " ms";
  } else if (event.event() == "release") {
    text += "gives it back after " + Number(event.duration_ms(), 2) + " ms";
  } else if (event.event() == "mode") {
    text += "mode " + event.mode();
  } else {
    text += event.event();
  }
  return text + "\n";
}

}  // namespace crossover::cli
