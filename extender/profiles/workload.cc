#include "extender/profiles/workload.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "extender/cluster/model.h"
#include "extender/profiles/flows.h"

namespace crossover::extender {
namespace {

// Returns the times with those made equal that are within 5% of each other: each becomes the longest time
// that is at most 5% above it and that did not itself become a longer one.
std::vector<double> Coarse(const std::vector<double>& times) {
  std::vector<double> longest_first = times;
  std::ranges::sort(longest_first, std::greater());
  std::vector<double> coarse;
  for (const double time : times) {
    double of = longest_first.front();
    for (const double other : longest_first) {
      if (other * JobProfile::kSlow >= of) continue;  // in the class of `of`
      if (time > other) break;
      of = other;
    }
    coarse.push_back(of);
  }
  return coarse;
}

}  // namespace

std::optional<placement::Workload> WorkloadOf(const Communication& communication,
                                              const placement::Fabric& fabric) {
  auto flows = FlowsOf(communication.groups);
  if (!flows) return std::nullopt;
  placement::Workload workload{.pods = communication.pods, .flows = *std::move(flows)};
  if (!fabric.seat_speeds.empty() && communication.compute_s.size() == fabric.seat_speeds.size())
    workload.compute_s = Coarse(communication.compute_s);
  return workload;
}

}  // namespace crossover::extender
