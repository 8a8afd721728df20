// Decides whether a node takes a pod. It does not look at single GPUs, which the planner knows better; GPU
// slots count as any other resource does. Pure.
//
// It does not check volumes: a scheduler does, and the pod's condition PodScheduled then reports its refusal.
// Constraints between pods are a matter of extender/gang/demands.h.
#pragma once

#include <string>

#include "extender/cluster/cluster_cache.h"
#include "extender/cluster/model.h"
#include "extender/placement/fitness.h"

namespace crossover::extender {

// Returns how many more pods like `pod` the node takes, beside the pods on it and those that `planned` sums
// up (see AddPod in resources.h). If it takes none, the result says why ("the node's CPU is taken") and gives
// the figures ("12 of 16, and the pod wants 8").
placement::Fit FitOn(const ClusterCache& cache, const std::string& node, const Pod& pod,
                     const Resources& planned);

}  // namespace crossover::extender
