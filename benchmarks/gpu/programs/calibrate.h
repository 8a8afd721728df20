#pragma once

#include "benchmarks/gpu/programs/kernels.h"

namespace crossover::bench {

// Returns how many loops of the work kernel take one microsecond while no other process computes. Returns 0
// on the software GPU, and where the driver loads no kernels.
double LoopsPerUs(const RealGpu& gpu);

}  // namespace crossover::bench
