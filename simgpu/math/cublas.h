// Declares the state of a cuBLAS handle.
#pragma once

#include <cuda.h>

namespace simgpu::math {

// cublasPointerMode_t
enum class PointerMode : int { kHost = 0, kDevice = 1 };

// A CublasHandle is what cublasHandle_t points to. One thread at a time uses it, as with NVIDIA's.
struct CublasHandle {
  CUstream stream = nullptr;
  PointerMode pointer_mode = PointerMode::kHost;
  int math_mode = 0;
  int sms = 0;  // 0 is all of the device's
};

}  // namespace simgpu::math
