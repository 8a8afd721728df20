// Decides whether a node's taints, its cordon and its readiness let a pod run there. Pure.
#pragma once

#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

// Returns whether the toleration matches the taint.
bool Tolerates(const Toleration& toleration, const Taint& taint);
// Returns what keeps the pod away from the node, in words for its user, or "" if nothing does. A taint with
// the effect PreferNoSchedule keeps no pod away.
std::string WhyNotLetIn(const Pod& pod, const Node& node);

}  // namespace crossover::extender
