// Whether a gang may join those on a set of GPUs. Pure.
#pragma once

#include <optional>

#include "extender/placement/fitness.h"

namespace crossover::placement {

// What a decision is made with, from beginning to end.
struct Terms {
  const History& history;
  const Settings& settings;
  const Fitness& fitness;
};

// Each pod's GPUs would be on one node.
bool BreaksShape(const Group& group, const Gang& newcomer);
// Its nodes would take that many more pods.
bool BreaksNodes(const Occupancy& occupancy, const Group& group, const Gang& newcomer,
                 const Fitness& fitness);

// The first rule that is in the way, or none: then `prediction` says what they may expect.
std::optional<Broken> WhyNotJoin(const Occupancy& occupancy, const Group& group, const Gang& newcomer,
                                 const Terms& terms, Prediction* prediction = nullptr);

}  // namespace crossover::placement
