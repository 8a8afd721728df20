// Finds out whether the driver takes stream memory operations.
#pragma once

#include <cstdint>

#include "sidecar/gates/driver.h"

namespace crossover::gates {

// Returns whether the table has the functions that a gate needs to make streams wait.
bool HasMemoryOperations(const Driver& driver);

// Makes a stream of ours carry out `count` operations as one batch, and returns whether the driver did so.
// The answers of a driver about memory operations and what it accepts differ between versions. Operations
// that change nothing of a turn tell the truth. Blocks. REQUIRES: all words that the operations wait for
// have the awaited values already, and no stream is being captured.
bool Probe(const Driver& driver, CUstreamBatchMemOpParams* operations, unsigned int count);

// Does this with a wait for the word at `address`. REQUIRES: the word has reached `value` already.
bool ProbeWait(const Driver& driver, CUdeviceptr address, std::uint32_t value);

}  // namespace crossover::gates
