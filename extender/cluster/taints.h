// Whether a node's taints, its cordon and its readiness let a pod come. Pure.
#pragma once

#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

bool Tolerates(const Toleration& toleration, const Taint& taint);
// What keeps the pod away, in words for its user; empty: nothing does. A taint that only asks to keep away
// (PreferNoSchedule) does not.
std::string WhyNotLetIn(const Pod& pod, const Node& node);

}  // namespace crossover::extender
