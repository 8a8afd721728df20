// Finds out whether the driver takes stream memory operations.
#pragma once

#include <cstdint>

#include "sidecar/gates/driver.h"

namespace crossover::gates {

// Returns whether the table has the functions that a gate needs to make streams wait.
bool HasMemoryOperations(const Driver& driver);

// Makes a new stream execute `count` operations as one batch, and returns whether the driver did so. A
// driver's attributes do not tell reliably which memory operations it accepts, so a gate tries operations
// that change nothing of a turn. Blocks. REQUIRES: all words that the operations wait for have the awaited
// values already, and no stream is being captured.
bool Probe(const Driver& driver, CUstreamBatchMemOpParams* operations, unsigned int count);

// Does the same with one wait for the word at `address`. REQUIRES: the word has reached `value` already.
bool ProbeWait(const Driver& driver, CUdeviceptr address, std::uint32_t value);

}  // namespace crossover::gates
