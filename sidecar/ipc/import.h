// Imports memory of signal words into the client's context (proto/signaller_protocol.h). It calls the driver
// below the library's own hooks, so the memory is charged to no budget. The client exports nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sidecar/gates/driver.h"
#include "sidecar/ipc/refusal.h"

namespace crossover::ipc {

// A Mapping is imported memory in this process's address space, for reading and writing by its GPU. The
// memory lives as long as a mapping, whatever becomes of its maker.
struct Mapping {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;

  // Returns the address of the lines of `area`.
  CUdeviceptr LinesOf(std::uint32_t area) const;
};

// Returns whether the driver has all functions that Import() and Copies need.
bool CanImport(const gates::Driver& driver);

// Maps the memory that `fd` stands for, which the caller keeps. Fills in `mapping`, or returns why the driver
// refuses: no memory, memory of another GPU than that of the current context, or of another size than
// `bytes`. What the words are is not looked at. REQUIRES: CanImport(); a context is current.
Refusal Import(const gates::Driver& driver, int fd, std::size_t bytes, Mapping* mapping);

// Unmaps the memory. REQUIRES: no stream can touch it any more.
void Unmap(const gates::Driver& driver, const Mapping& mapping);

}  // namespace crossover::ipc
