#pragma once

#include "benchmarks/gpu/programs/kernels.h"

namespace crossover::bench {

// How many loops of the work kernel a microsecond has while nobody else computes; 0 on the software GPU.
double LoopsPerUs(const RealGpu& gpu);

}  // namespace crossover::bench
