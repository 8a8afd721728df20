// Declares the state of a cuDNN handle, and the numbers of cuDNN's interface that the stand-in needs.
#pragma once

#include <cuda.h>

namespace simgpu::math {

// cudnnStatus_t
enum CudnnStatus : int {
  kCudnnSuccess = 0,
  kCudnnNotInitialized = 1001,
  kCudnnBadParam = 2000,
  kCudnnNotSupported = 3000,
  kCudnnAllocationFailed = 4003,
  kCudnnExecutionFailed = 5000,
};

// A CudnnHandle is what cudnnHandle_t points to. One thread at a time uses it, as with NVIDIA's.
struct CudnnHandle {
  CUstream stream = nullptr;
};

// The soname, by which refusals name the library.
inline constexpr const char* kCudnnLibrary = "libcudnn.so.9";

}  // namespace simgpu::math
