// How jobs interleave by Muri's model: stages of loading, computing and communicating, one job behind
// another, each stage one job's at a time.
#pragma once

#include <span>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

inline constexpr int kMostTogether = 4;
// What an iteration alone takes over the profile's, and what one of 2, 3, 4 interleaved jobs takes over the
// ideal: published with Muri's simulator, from its testbed.
inline constexpr double kAlonePenalty = 1.015;
inline constexpr double kPenalty[] = {1, 1, 1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};

// The cycle of 1 to 4 jobs, each of which does one iteration in it, by the best of their orders.
double IdealCycle(std::span<const Job* const> jobs);
// With the penalties.
double PublishedCycle(std::span<const Job* const> jobs);
// How long a job needs to start, in Muri's testbed: it does so again whenever another one comes or ends.
double StartOf(const Job& job);

}  // namespace crossover::benchmarks
