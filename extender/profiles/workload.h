// Says what the mapping of pods to seats (placement/mapping.h) needs to know of a job. Pure.
#pragma once

#include <optional>

#include "extender/cluster/communication.h"
#include "extender/placement/mapping.h"

namespace crossover::extender {

// Returns the workload of a job for seats of `fabric`, or nothing if FlowsOf() returns nothing. The compute
// of pods counts if the seats are of unequal speed and all computes are known. Times within 5% of each other
// count as equal: such a difference is noise, and must not count for more than an uplink.
std::optional<placement::Workload> WorkloadOf(const Communication& communication,
                                              const placement::Fabric& fabric);

}  // namespace crossover::extender
