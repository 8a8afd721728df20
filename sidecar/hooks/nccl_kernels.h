// NCCL by its kernels: where it is linked into the program, its calls are no symbols that anybody could stand
// in for, but each of its collectives comes through the driver as a kernel with a name of its own.
//
// The launch is seen before it happens, in the thread that launches, on a stream that is known: a turn can
// end there as in front of the call. Which communicator it is and how much it moves is not known: tokens are
// told apart by kernel and number of blocks. docs/design/0011-linked-nccl.md.
#pragma once

#include <cudaTypedefs.h>

#include <cstdint>

#include "sidecar/phase/tracker.h"

namespace crossover::hooks {

// A name as the driver has it, mangled or not: "ncclDevKernel_AllReduce_Sum_f32_RING_LL", or others of NCCL's
// since 2.7. 0: none of NCCL's kernels; else nearly always another number for another name.
std::uint16_t NcclKernelNamed(const char* name);

// The same for a function or a kernel's handle that is about to be launched. The driver is asked once for
// each; later calls are a look-up without a lock. Thread-safe.
std::uint16_t NcclKernelOf(CUfunction function);

// Whether kernels of NCCL are looked for in this process at all; if not, launches do not ask again.
bool LooksForKernels();

// The program has asked for the kernel of that name, and got this handle.
void OnKernelName(void* handle, const char* name, const void* caller);
inline void OnKernelName(CUfunction handle, const char* name, const void* caller) {
  OnKernelName(reinterpret_cast<void*>(handle), name, caller);
}
inline void OnKernelName(CUkernel handle, const char* name, const void* caller) {
  OnKernelName(reinterpret_cast<void*>(handle), name, caller);
}

// Kernels are unloaded: their handles mean nothing any more.
void ForgetKernels();

// One of NCCL's kernels is about to be launched, by no NCCL that is called through our wrappers.
void BeforeNcclKernel(std::uint16_t kernel, unsigned blocks, phase::StreamKey stream);

}  // namespace crossover::hooks
