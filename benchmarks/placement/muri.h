// Computes how jobs interleave by Muri's model. A job has stages of loading, computing and communicating.
// One job runs behind another, and each stage serves one job at a time.
#pragma once

#include <span>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

inline constexpr int kMostTogether = 4;
// kAlonePenalty is the time of an iteration alone over the profile's. kPenalty[n] is the time of one of n
// interleaved jobs over the ideal, for n of 2, 3, 4. Both were published with Muri's simulator, from its
// testbed.
inline constexpr double kAlonePenalty = 1.015;
inline constexpr double kPenalty[] = {1, 1, 1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};

// Returns the cycle of 1 to 4 jobs, each of which does one iteration in it, by the best of their orders.
double IdealCycle(std::span<const Job* const> jobs);
// Returns the same with the penalties.
double PublishedCycle(std::span<const Job* const> jobs);
// Returns how long a job needs to start, in s, in Muri's testbed. It starts again whenever another job
// comes or ends.
double StartOf(const Job& job);

}  // namespace crossover::benchmarks
