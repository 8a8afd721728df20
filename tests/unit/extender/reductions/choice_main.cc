// shrink_choice COMPUTE EXPOSED LINK NODES RANKS_PER_NODE JOBS ELEMENTS
//
// Prints, as one JSON line, which level of compressed reductions the extender chooses for one of JOBS equal
// jobs on the same GPUs, and why. The first three are seconds of an iteration of a job alone that is not
// compressed: compute, exposed wait, and time on a link that the jobs share (0: none). ELEMENTS are those of
// the all-reduce of an iteration. The GPUs have no known model, so the codec is taken to cost nothing.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "extender/reductions/choice.h"

namespace crossover::extender {
namespace {

using placement::Gang;
using placement::Seat;

constexpr int kNumbers = 7;
constexpr const char* kNames[kNumbers] = {"COMPUTE",        "EXPOSED", "LINK",    "NODES",
                                          "RANKS_PER_NODE", "JOBS",    "ELEMENTS"};
constexpr int kFirstCount = 3;  // from here on the numbers are whole

struct Asked {
  double compute_s, exposed_s, link_s;
  int nodes, ranks_per_node, jobs;
  double elements;
};

// Returns nothing, and says why on stderr, if the text is no number that the argument may be.
std::optional<double> NumberOf(int place, const char* text) {
  const bool is_count = place >= kFirstCount;
  const double most = is_count ? 1e9 : 1e6;
  double number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  const bool fits = number >= (is_count ? 1 : 0) && number <= most;
  if (error == std::errc{} && rest == end && fits && (!is_count || number == std::floor(number)))
    return number;
  std::fprintf(stderr, "shrink_choice: %s: expected a %snumber from %d to %g, got %s\n", kNames[place],
               is_count ? "whole " : "", is_count ? 1 : 0, most, text);
  return std::nullopt;
}

std::optional<Asked> AskedBy(char** arguments) {
  double numbers[kNumbers];
  for (int place = 0; place < kNumbers; ++place) {
    const auto number = NumberOf(place, arguments[place]);
    if (!number) return std::nullopt;
    numbers[place] = *number;
  }
  return Asked{numbers[0],
               numbers[1],
               numbers[2],
               static_cast<int>(numbers[3]),
               static_cast<int>(numbers[4]),
               static_cast<int>(numbers[5]),
               numbers[6]};
}

// Returns one pod for each node.
Gang GangOf(const Asked& asked, int number) {
  Gang gang;
  gang.id = gang.name = "job" + std::to_string(number);
  gang.space = "default";
  gang.pods = asked.nodes;
  gang.gpus_per_pod = asked.ranks_per_node;
  gang.profile = {.source = placement::Source::kMeasured,
                  .compute_s = asked.compute_s,
                  .exposed_s = asked.exposed_s,
                  .link_s = asked.link_s};
  return gang;
}

JobProfile ProfileOf(const Asked& asked) {
  api::CallGroup reduction{.function = api::NcclFunction::kAllReduce,
                           .members = {},
                           .bytes = static_cast<std::uint64_t>(asked.elements) * sizeof(float)};
  for (int pod = 0; pod < asked.nodes; ++pod)
    reduction.members.insert(reduction.members.end(), static_cast<std::size_t>(asked.ranks_per_node), pod);
  JobProfile profile;
  profile.communication.pods = asked.nodes;
  profile.communication.groups.push_back(std::move(reduction));
  return profile;
}

ShrinkChosen Choose(const Asked& asked) {
  std::vector<placement::Node> nodes;
  std::vector<Seat> seats;
  for (int node = 0; node < asked.nodes; ++node) {
    Seat seat{"node" + std::to_string(node), {}};
    placement::Node there{.name = seat.node, .domains = {}, .gpus = {}};
    for (int rank = 0; rank < asked.ranks_per_node; ++rank) {
      seat.gpus.push_back(seat.node + "-gpu" + std::to_string(rank));
      there.gpus.push_back({.uuid = seat.gpus.back()});
    }
    nodes.push_back(std::move(there));
    seats.push_back(std::move(seat));
  }
  std::vector<Gang> gangs;
  for (int number = 0; number < asked.jobs; ++number) gangs.push_back(GangOf(asked, number));
  std::vector<Occupant> others;
  for (std::size_t other = 1; other < gangs.size(); ++other) others.push_back({&gangs[other], &seats});
  const JobProfile profile = ProfileOf(asked);
  return ChooseShrink({.own = {gangs.data(), &seats}, .others = others, .nodes = nodes, .profile = &profile});
}

int Main(int argc, char** argv) {
  if (argc != 1 + kNumbers) {
    std::fputs("usage: shrink_choice COMPUTE EXPOSED LINK NODES RANKS_PER_NODE JOBS ELEMENTS\n", stderr);
    return 2;
  }
  const auto asked = AskedBy(argv + 1);
  if (!asked) return 2;
  const ShrinkChosen chosen = Choose(*asked);
  const nlohmann::json line = {{"choice", base::TextOf(chosen.choice)}, {"why", chosen.why}};
  std::puts(line.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace crossover::extender

int main(int argc, char** argv) { return crossover::extender::Main(argc, argv); }
