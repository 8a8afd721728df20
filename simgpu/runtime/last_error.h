// Keeps the last error of each thread, as cudaGetLastError() and cudaPeekAtLastError() define it.
#pragma once

#include "simgpu/runtime/export.h"

namespace simgpu::runtime {

// Returns the runtime's code for a result of the driver. The two enumerations have the same numbers.
constexpr cudaError_t ErrorOf(CUresult result) { return static_cast<cudaError_t>(result); }
constexpr cudaError_t ErrorOf(cudaError_t error) { return error; }

// Returns whether an error leaves the process unable to use CUDA: NVIDIA documents that all further calls
// return it, and that the process must be restarted.
bool IsSticky(cudaError_t error);

// Remembers `error` as the calling thread's last error unless it is cudaSuccess, and returns it.
cudaError_t Keep(cudaError_t error);

// Returns the calling thread's last error. Take() also resets it to cudaSuccess, unless it is a sticky one.
cudaError_t Peek();
cudaError_t Take();

}  // namespace simgpu::runtime
