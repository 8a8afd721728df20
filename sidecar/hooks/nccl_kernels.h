// Recognises NCCL by its kernels. If NCCL is linked into the program, its functions are no symbols that we
// could replace. But each of its collectives launches a kernel with a name of its own through the driver.
//
// The hook sees the launch before it happens, on the thread that launches, with its stream. So a turn can end
// there as it can before a call. The hook knows neither the communicator nor the amount of data: it tells
// collectives apart by kernel and number of blocks. See docs/design/0011-linked-nccl.md.
#pragma once

#include <cudaTypedefs.h>

#include <cstdint>

#include "sidecar/phase/tracker.h"

namespace crossover::hooks {

// Returns a number for the kernel of NCCL with this name, and 0 for any other kernel. The driver gives `name`
// mangled or not, such as "ncclDevKernel_AllReduce_Sum_f32_RING_LL". This knows the names that NCCL has used
// since 2.7. Different names nearly always get different numbers.
std::uint16_t NcclKernelNamed(const char* name);

// Does the same for a function or a kernel's handle that is about to be launched. Asks the driver once for
// each; later calls are a look-up without a lock. Thread-safe.
std::uint16_t NcclKernelOf(CUfunction function);

// Returns whether this process looks for kernels of NCCL. If not, switches the look-up off, so that launches
// do not ask again.
bool LooksForKernels();

// Records that code at `caller` has asked for the kernel of that name, and got this handle.
void OnKernelName(void* handle, const char* name, const void* caller);
inline void OnKernelName(CUfunction handle, const char* name, const void* caller) {
  OnKernelName(reinterpret_cast<void*>(handle), name, caller);
}
inline void OnKernelName(CUkernel handle, const char* name, const void* caller) {
  OnKernelName(reinterpret_cast<void*>(handle), name, caller);
}

// Forgets handles: once kernels are unloaded, the driver may give their handles out again.
void ForgetKernels();

// Records that one of NCCL's kernels is about to be launched on `blocks` blocks, by an NCCL that is not
// called through our wrappers.
void BeforeNcclKernel(std::uint16_t kernel, unsigned blocks, phase::StreamKey stream);

}  // namespace crossover::hooks
