// The table of NCCL hooks as types: traits and the real function of each row.
#pragma once

#include <atomic>
#include <cstddef>

#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_types.h"

namespace crossover::hooks {

enum class NcclHook : std::size_t {
#define NCCL_HOOK(symbol, type, policy) k_##symbol,
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK
  kCount
};

template <NcclHook kHook>
struct NcclTraits;

#define NCCL_HOOK(symbol, type, policy)             \
  template <>                                       \
  struct NcclTraits<NcclHook::k_##symbol> {         \
    using Function = type;                          \
    static constexpr const char* kSymbol = #symbol; \
  };
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK

template <NcclHook kHook, typename Function = typename NcclTraits<kHook>::Function>
struct NcclFirstCall;

template <NcclHook kHook>
inline constinit std::atomic<typename NcclTraits<kHook>::Function> real_nccl{&NcclFirstCall<kHook>::Call};

template <NcclHook kHook>
auto RealNccl() {
  return real_nccl<kHook>.load(std::memory_order_relaxed);
}

template <NcclHook kHook, typename... Arguments>
struct NcclFirstCall<kHook, NcclResult (*)(Arguments...)> {
  static NcclResult Call(Arguments... arguments) {
    const auto real = reinterpret_cast<typename NcclTraits<kHook>::Function>(
        FindSymbol(Library::kNccl, NcclTraits<kHook>::kSymbol));
    if (real == nullptr) return kNcclSystemError;
    real_nccl<kHook>.store(real, std::memory_order_relaxed);
    return real(arguments...);
  }
};

}  // namespace crossover::hooks
