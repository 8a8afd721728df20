// Shares device memory that IPC handles name. Thread-safe.
#pragma once

#include "simgpu/cuda/memory.h"

namespace simgpu {

// Returns a descriptor of device memory that other processes can map, or -1 on an error. Device memory is
// private until its first export: this call moves it into a file, at the same address.
int MakeShareable(const Allocation& memory);

// Ends what MakeShareable() began, because the memory is freed: handles open nothing any more, and importers
// find zeros. Does nothing for memory that was never exported.
void EndSharing(const Allocation& memory);

}  // namespace simgpu
