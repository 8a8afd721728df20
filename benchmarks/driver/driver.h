// Loads the CUDA driver at run time for the benchmark programs. Every failure ends the program with a
// message that names the call.
#pragma once

#include <cuda.h>

namespace crossover::bench {

// Holds pointers to the driver functions in driver.def.
struct Driver {
#define DRIVER(name, symbol) decltype(&::symbol) name;
#include "benchmarks/driver/driver.def"
#undef DRIVER
};

// Returns the driver's functions. Loads the driver at the first call. Ends the process, with one line on
// standard error, if there is no driver or a function is missing.
const Driver& Cuda();

// Returns the driver's name of a result, or "unknown error".
const char* NameOf(CUresult result);

// Ends the process, with one line on standard error, unless `result` is CUDA_SUCCESS. `what` names the
// call.
void Check(CUresult result, const char* what);

}  // namespace crossover::bench
