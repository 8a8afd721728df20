// Whether the driver takes stream memory operations.
#pragma once

#include <cstdint>

#include "sidecar/gates/driver.h"

namespace crossover::gates {

// Whether the table has what a gate needs that lets streams wait.
bool HasMemoryOperations(const Driver& driver);

// Lets a stream of our own wait for the word at `address`, which has reached `value` already: what a driver
// says about memory operations and what it accepts differ between versions, so one that changes nothing is
// the truth. Blocks; not while any stream captures.
bool ProbeWait(const Driver& driver, CUdeviceptr address, std::uint32_t value);

// The operation with which a stream waits until the word at `address` is at or past `value`.
CUstreamBatchMemOpParams WaitParams(CUdeviceptr address, std::uint32_t value);

}  // namespace crossover::gates
