// Decides whether a gang may join the gangs on a set of GPUs. Pure.
#pragma once

#include <optional>

#include "extender/placement/fitness.h"

namespace crossover::placement {

// A Context holds what stays the same during a whole decision. It refers to objects that must outlive it.
struct Context {
  const History& history;
  const Settings& settings;
  const Fitness& fitness;
};

// Returns whether the GPUs of some pod of the newcomer would be on two nodes.
bool BreaksShape(const Group& group, const Gang& newcomer);
// Returns whether some node of the group would not take its part of the newcomer's pods.
bool BreaksNodes(const Occupancy& occupancy, const Group& group, const Gang& newcomer,
                 const Fitness& fitness);

// Returns whether the newcomer's own constraints do not permit its pods to be there together.
bool BreaksApart(const Group& group, const Gang& newcomer);

// Returns the first rule that forbids the newcomer to join the group, or nothing. If there is none,
// `prediction`, unless null, gets what they are expected to reach together.
std::optional<Violation> WhyNotJoin(const Occupancy& occupancy, const Group& group, const Gang& newcomer,
                                    const Context& context, Prediction* prediction = nullptr);

}  // namespace crossover::placement
