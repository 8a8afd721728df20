// Keeps the error of a process whose work failed on the GPU. Such a process loses its contexts: queued work
// is not done any more, threads that wait for it return, and every later call returns the same error.
#pragma once

#include <atomic>

#include "simgpu/cuda/api.h"

namespace simgpu {

inline std::atomic<CUresult> context_error{CUDA_SUCCESS};

inline bool Lost() { return context_error.load(std::memory_order_acquire) != CUDA_SUCCESS; }

// Sets the error. Later errors do not replace the first one.
inline void Lose(CUresult error) {
  CUresult none = CUDA_SUCCESS;
  context_error.compare_exchange_strong(none, error);
}

}  // namespace simgpu
