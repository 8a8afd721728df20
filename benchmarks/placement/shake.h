// Makes traces that differ a little from a published one, to see how far an outcome depends on chance.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

// Delays each job by up to a day, and gives it up to 2% iterations more or less. The jobs are in order of
// submission again. Equal seeds give equal traces.
void Shake(std::vector<Job>& jobs, std::uint64_t seed);

}  // namespace crossover::benchmarks
