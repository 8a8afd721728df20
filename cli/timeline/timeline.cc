#include "cli/timeline/timeline.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/node/client.h"
#include "cli/render/json.h"
#include "cli/render/print.h"
#include "cli/timeline/chart.h"
#include "proto/crossover_node.pb.h"

namespace crossover::cli {
namespace {

constexpr std::size_t kWidthOfAFile = 100;
constexpr std::size_t kLeastWidth = 20;
constexpr std::size_t kForNames = 24;

std::size_t ChartWidth() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWidthOfAFile;
  return std::max(kLeastWidth, std::max<std::size_t>(size.ws_col, kForNames) - kForNames);
}

int Fail(const std::string& error) {
  std::fprintf(stderr, "crossover timeline: %s\n", error.c_str());
  return 1;
}

int Follow(NodeClient* client, const TimelineOptions& options) {
  const std::string error = client->WatchTurns(options.gpu, [&options](const node::v1::TurnEvent& event) {
    return Print(options.json ? Json(event, false) + "\n" : EventLine(event));
  });
  return error.empty() ? 0 : Fail(error);
}

}  // namespace

int Timeline(const TimelineOptions& options) {
  NodeClient client(options.socket);
  if (options.follow) return Follow(&client, options);
  node::v1::ListTurnsRequest request;
  request.set_gpu_uuid(options.gpu);
  request.set_seconds(options.json ? options.seconds : 0);
  node::v1::ListTurnsResponse turns;
  if (const std::string error = client.ListTurns(request, &turns); !error.empty()) return Fail(error);
  return Print(options.json ? Json(turns, true) : Chart(turns, options.seconds, ChartWidth())) ? 0 : 1;
}

}  // namespace crossover::cli
