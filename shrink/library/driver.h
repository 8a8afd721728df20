// Finds the CUDA driver's functions in the process.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace crossover::shrink::library {

struct Driver {
#define SHRINK_DRIVER(member, symbol, parameters) CUresult(*member) parameters = nullptr;
#include "shrink/library/driver.def"
#undef SHRINK_DRIVER
};

// A Way says which functions a Driver has.
enum class Way {
  // These are what a program gets: with libcrossover.so its wrappers, which count memory. They also let
  // kernels
  // in only during a turn, and take a stream that they launch on for one that computes.
  kAsTheProgram,
  kPast  // the driver's own: what is launched by them waits for no turn
};

// Returns the functions, or null if the process has no driver with all of them. Loads nothing. Thread-safe;
// takes no lock once they are known.
const Driver* DriverOf(Way way);

}  // namespace crossover::shrink::library
