// Whether a pod's node selector and required node affinity let it on a node. Pure.
#pragma once

#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

// As Kubernetes defines the operators; one that it does not know holds nowhere.
bool Holds(const Requirement& requirement, const Node& node);
// What keeps the pod away, in words for its user; empty: nothing does.
std::string WhyNotSelected(const Pod& pod, const Node& node);

}  // namespace crossover::extender
