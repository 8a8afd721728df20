// Defines the wrappers of the CUDA table, which callers get in place of the driver's functions.
#pragma once

#include "sidecar/hooks/cuda_policies.h"
#include "sidecar/hooks/cuda_table.h"
#include "sidecar/hooks/memory_policies.h"

// CROSSOVER_JUMP ends a function with a jump, so that the arguments stay where they are. GCC does so by
// itself. Clang copies arguments on the stack unless the code demands the jump.
#if defined(__clang__)
#define CROSSOVER_JUMP [[clang::musttail]] return
#else
#define CROSSOVER_JUMP return
#endif

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
      const std::uint32_t why = session::hook_flags.load(std::memory_order_relaxed);
      if (__builtin_expect(why != 0 && !Policy::Passes(why, arguments...), 0)) {
        CROSSOVER_JUMP Policy::template Slow<kHook>(arguments...);
      }
      CROSSOVER_JUMP real_cuda<kHook>.load(std::memory_order_relaxed)(arguments...);
    } else {
      return Policy::template Run<kHook>(arguments...);
    }
  }
};

}  // namespace crossover::hooks

#undef CROSSOVER_JUMP
