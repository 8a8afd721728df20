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

// How long an iteration of each takes where they are together: alone where there is one.
std::vector<double> Together(std::span<const Job* const> jobs, const Cluster& cluster, double efficiency);

// The cluster, empty.
placement::State StateOf(const Cluster& cluster, int slots);

}  // namespace crossover::benchmarks
