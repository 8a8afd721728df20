// The CUDA driver as the benchmark programs see it: found at run time, every failure fatal and named.
#pragma once

#include <cuda.h>

namespace crossover::bench {

struct Driver {
#define DRIVER(name, symbol) decltype(&::symbol) name;
#include "benchmarks/driver/driver.def"
#undef DRIVER
};

// Loaded at the first call; ends the process with one line where there is no driver.
const Driver& Cuda();

// Ends the process unless `result` is success. `what` names the call.
void Check(CUresult result, const char* what);

}  // namespace crossover::bench
