// Converts jobs of a trace to gangs of the engine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "benchmarks/placement/policy.h"
#include "extender/placement/engine.h"

namespace crossover::benchmarks {

// Returns a gang of one pod per GPU. All memory fits, as in Muri's simulator.
placement::Gang GangOf(const Job& job);

// Adds the runs of jobs that have the same GPUs, of these nodes. Each goes as fast as it does beside the
// others. A job that has not run yet loses the time that its start takes. With `stops` all jobs lose it.
void AddRuns(std::span<const Job* const> together, const std::vector<int>& nodes,
             const std::vector<Live>& live, double efficiency, bool stops, std::vector<Run>* runs);

// Returns the cluster without any gangs.
placement::State StateOf(const Cluster& cluster, int slots);

}  // namespace crossover::benchmarks
