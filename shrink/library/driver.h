// Finds the CUDA driver's functions in the process.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "shrink/library/table.h"
#include "shrink/vote/reason.h"

namespace crossover::shrink::library {

struct Driver {
#define SHRINK_DRIVER(member, symbol, parameters) CUresult(*member) parameters = nullptr;
#include "shrink/library/driver.def"
#undef SHRINK_DRIVER
};

// Says whether a stream is captured into a graph. kUnknown: the driver does not tell, as of the legacy stream
// while another one is captured.
enum class Capture : std::uint8_t { kNone, kActive, kUnknown };
Capture CaptureOf(CUstream stream);

// Returns the functions, or null if the process has no driver with all of them. Those of kLine are what a
// program gets: with libcrossover.so its wrappers, which count memory. They also let kernels in only during a
// turn, and take a stream that they launch on for one that computes. Those of kPast are the driver's own:
// what is launched by them waits for no turn. Loads nothing. Thread-safe; takes no lock once they are known.
const Driver* DriverOf(Way way);

// Returns why nothing can be done where DriverOf() returns null.
inline vote::Reason NoDriver() {
  return vote::As(
      vote::PlainReason::kKernels,
      vote::MakeReason("CUDA driver: expected one with all functions that compression calls, got an "
                       "older one or none"));
}

}  // namespace crossover::shrink::library
