// Knows NCCL by its kernels. Where NCCL is linked into the program, its calls are no symbols that we could
// stand in for. But each of its collectives comes through the driver as a kernel with a name of its own.
//
// The launch is seen before it happens, in the thread that launches, on a stream that is known. So a turn
// can end there as it can in front of a call. The communicator and the amount of data are not known: tokens
// are told apart by kernel and number of blocks. See docs/design/0011-linked-nccl.md.
#pragma once

#include <cudaTypedefs.h>

#include <cstdint>

#include "sidecar/phase/tracker.h"

namespace crossover::hooks {

// Returns a number for the kernel of NCCL with this name, and 0 for any other kernel. `name` is as the
// driver has it, mangled or not: "ncclDevKernel_AllReduce_Sum_f32_RING_LL", or others of NCCL's since 2.7.
// Different names nearly always get different numbers.
std::uint16_t NcclKernelNamed(const char* name);

// Does the same for a function or a kernel's handle that is about to be launched. Asks the driver once for
// each; later calls are a look-up without a lock. Thread-safe.
std::uint16_t NcclKernelOf(CUfunction function);

// Returns whether kernels of NCCL are looked for in this process at all. If not, launches do not ask again.
bool LooksForKernels();

// Records that code at `caller` has asked for the kernel of that name, and got this handle.
void OnKernelName(void* handle, const char* name, const void* caller);
inline void OnKernelName(CUfunction handle, const char* name, const void* caller) {
  OnKernelName(reinterpret_cast<void*>(handle), name, caller);
}
inline void OnKernelName(CUkernel handle, const char* name, const void* caller) {
  OnKernelName(reinterpret_cast<void*>(handle), name, caller);
}

// Forgets handles, which mean nothing any more once kernels are unloaded.
void ForgetKernels();

// Records that one of NCCL's kernels is about to be launched on `blocks` blocks, by an NCCL that is not
// called through our wrappers.
void BeforeNcclKernel(std::uint16_t kernel, unsigned blocks, phase::StreamKey stream);

}  // namespace crossover::hooks
