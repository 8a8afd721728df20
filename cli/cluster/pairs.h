// Finds pairs of runs that would have gained by turns on the same GPUs. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/cluster/runs.h"

namespace crossover::cli {

// A Pair names two runs by their index.
struct Pair {
  std::size_t a = 0, b = 0;
  double gain = 0;         // over one after the other (gains::FairRates)
  double saved_hours = 0;  // GPU hours
};

// Returns the pairs that save most, those first. Each run is in one pair at most. Both runs of a pair have
// the same number of GPUs and ran at the same time, and are of two gangs.
std::vector<Pair> BestPairs(const std::vector<Run>& runs);

// An Unpaired is a gang that has no run in a pair. `why` says why its latest run is in no pair.
struct Unpaired {
  std::string gang, why;
};

// Returns the gangs that have no run in a pair, by name. REQUIRES: `pairs` are BestPairs(runs).
std::vector<Unpaired> UnpairedOf(const std::vector<Run>& runs, const std::vector<Pair>& pairs);

}  // namespace crossover::cli
