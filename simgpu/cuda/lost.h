// What becomes of a process whose work meets an error on the GPU: its contexts are lost. Nothing that was
// queued is done any more, whoever waits for it returns, and every later call answers with the same error.
#pragma once

#include <atomic>

#include "simgpu/cuda/api.h"

namespace simgpu {

inline std::atomic<CUresult> context_error{CUDA_SUCCESS};

inline bool Lost() { return context_error.load(std::memory_order_acquire) != CUDA_SUCCESS; }

// The first error stays.
inline void Lose(CUresult error) {
  CUresult none = CUDA_SUCCESS;
  context_error.compare_exchange_strong(none, error);
}

}  // namespace simgpu
