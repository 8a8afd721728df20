// The wrappers of the CUDA table: what callers get in place of the driver's functions.
#pragma once

#include "sidecar/hooks/cuda_policies.h"
#include "sidecar/hooks/cuda_table.h"
#include "sidecar/hooks/memory_policies.h"

namespace crossover::hooks {

template <CudaHook kHook>
struct CudaPolicy;

#define CUDA_HOOK(symbol, name, version, flavour, type, policy) \
  template <>                                                   \
  struct CudaPolicy<CudaHook::k_##symbol> {                     \
    using Type = policy;                                        \
  };
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK

template <CudaHook kHook, typename Function = typename CudaTraits<kHook>::Function>
struct CudaWrapper;

template <CudaHook kHook, typename... Arguments>
struct CudaWrapper<kHook, CUresult(CUDAAPI*)(Arguments...)> {
  static CUresult CUDAAPI Call(Arguments... arguments) {
    using Policy = typename CudaPolicy<kHook>::Type;
    if constexpr (kIsLaunch<Policy>) {
      if (__builtin_expect(session::attention.load(std::memory_order_relaxed) != 0, 0)) {
        return Policy::template Slow<kHook>(arguments...);
      }
      return real_cuda<kHook>.load(std::memory_order_relaxed)(arguments...);
    } else {
      return Policy::template Run<kHook>(arguments...);
    }
  }
};

}  // namespace crossover::hooks
