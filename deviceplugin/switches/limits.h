// Combines the switches of the node and of the cluster. Pure.
#pragma once

#include <string>

#include "common/base/names.h"
#include "deviceplugin/switches/own_node.h"
#include "deviceplugin/switches/turn_limits.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {

// Returns the limits that the switches of the node and of the cluster set. `cluster` is the mode that is
// written on the namespace `installation`, in which Crossover runs; it applies to the whole cluster. `held`
// of the result, the GPUs on which no turns are taken, is empty: NodeAgent::LimitTurns() fills it in.
inline TurnLimits LimitsOf(const OwnNode::NodeSpec& node, arbiter::Policy cluster,
                           const std::string& installation) {
  TurnLimits limits;
  const auto limit = [&limits](arbiter::Policy policy, const std::string& by) {
    if (policy < limits.policy) limits = {.policy = policy, .by = by, .held = {}};
  };
  const std::string mode = base::kModeAnnotation;
  limit(node.mode, mode + " of this node is " + std::string(PolicyName(node.mode)));
  limit(cluster, mode + " of namespace " + installation + ", which holds for the whole cluster, is " +
                     std::string(PolicyName(cluster)));
  if (node.maintenance) limit(arbiter::Policy::kOff, "this node is in maintenance");
  limits.maintenance = node.maintenance;
  return limits;
}

}  // namespace crossover::deviceplugin
