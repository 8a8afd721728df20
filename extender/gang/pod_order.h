// Says where the pods that nodes report stand among the pods of their gangs. Pure.
#pragma once

#include <span>

#include "extender/cluster/cluster_cache.h"
#include "extender/profiles/communication.h"

namespace crossover::extender {

// Returns the places, in the order of ranks (pod_rank.h), of the pods that `jobs` name in what they call. A
// pod that `cache` does not have is missing.
PodOrder OrderOf(const ClusterCache& cache, std::span<const GpuNode::Job> jobs);

}  // namespace crossover::extender
