// Jobs of a trace as the engine sees them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "benchmarks/placement/policy.h"
#include "extender/placement/engine.h"

namespace crossover::benchmarks {

// A gang of one pod per GPU. All memory fits, as Muri has it.
placement::Gang GangOf(const Job& job);

// Adds the runs of jobs that have the same GPUs, of these nodes: each as fast as it goes beside the others.
// Those that have not run yet lose what their start takes, with `stops` all of them.
void AddRuns(std::span<const Job* const> together, const std::vector<int>& nodes,
             const std::vector<Live>& live, double efficiency, bool stops, std::vector<Run>* runs);

// The cluster, empty.
placement::State StateOf(const Cluster& cluster, int slots);

}  // namespace crossover::benchmarks
