// Traces that differ a little from a published one: how far does an outcome depend on chance?
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/placement/traces/job.h"

namespace crossover::benchmarks {

// Each job comes up to a day later than it did, and has up to 2% iterations more or less. In order of
// submission again. Equal seeds give equal traces.
void Shake(std::vector<Job>& jobs, std::uint64_t seed);

}  // namespace crossover::benchmarks
