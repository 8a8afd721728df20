#include "extender/placement/join_rules.h"

#include <algorithm>

#include "extender/placement/sets.h"

namespace crossover::placement {

bool BreaksShape(const Group& group, const Gang& newcomer) {
  return std::ranges::any_of(group.by_node,
                             [&](const OnNode& on) { return on.gpus % newcomer.gpus_per_pod != 0; });
}

bool BreaksNodes(const Occupancy& occupancy, const Group& group, const Gang& newcomer,
                 const Fitness& fitness) {
  return std::ranges::any_of(group.by_node, [&](const OnNode& on) {
    const Fit fit = fitness(newcomer, on.node, occupancy.planned(on.node));
    return fit.never() || fit.pods < on.gpus / newcomer.gpus_per_pod;
  });
}

bool BreaksApart(const Group& group, const Gang& newcomer) {
  if (newcomer.divisions.empty()) return false;
  std::vector<Room> chosen;
  for (const OnNode& on : group.by_node) chosen.push_back({on.node, on.gpus / newcomer.gpus_per_pod});
  return !Permits(newcomer.divisions, chosen);
}

std::optional<Violation> WhyNotJoin(const Occupancy& occupancy, const Group& group, const Gang& newcomer,
                                    const Context& context, Prediction* prediction) {
  const Meeting meeting{group.gangs, newcomer, group.site, context.history, context.settings};
  if (const auto violation = FirstViolation(meeting, prediction)) return violation;
  if (occupancy.Closed(group)) return Violation{Rule::kClosed};
  if (BreaksShape(group, newcomer)) return Violation{Rule::kShape};
  if (BreaksNodes(occupancy, group, newcomer, context.fitness)) return Violation{Rule::kNodes};
  if (BreaksApart(group, newcomer)) return Violation{Rule::kApart};
  if (!IsWithin(occupancy.state(), newcomer, group.by_node)) return Violation{Rule::kWithin};
  return std::nullopt;
}

}  // namespace crossover::placement
