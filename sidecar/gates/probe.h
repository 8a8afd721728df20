// Finds out whether the driver takes stream memory operations.
#pragma once

#include <cstdint>

#include "sidecar/gates/driver.h"

namespace crossover::gates {

// Returns whether the table has the functions that a gate needs to make streams wait.
bool HasMemoryOperations(const Driver& driver);

// Makes a stream of ours wait for the word at `address`, and returns whether the driver did so. The answers
// of a driver about memory operations and what it accepts differ between versions. An operation that
// changes nothing tells the truth. Blocks. REQUIRES: the word has reached `value` already, and no stream is
// being captured.
bool ProbeWait(const Driver& driver, CUdeviceptr address, std::uint32_t value);

// Returns the operation by which a stream waits until the word at `address` is at or past `value`.
CUstreamBatchMemOpParams WaitParams(CUdeviceptr address, std::uint32_t value);

}  // namespace crossover::gates
