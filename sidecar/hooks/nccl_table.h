// Defines the table of NCCL hooks as types: the traits and the real function of each row.
#pragma once

#include <atomic>
#include <cstddef>

#include "sidecar/hooks/nccl_files.h"
#include "sidecar/hooks/nccl_types.h"

namespace crossover::hooks {

enum class NcclHook : std::size_t {
#define NCCL_HOOK(symbol, type, policy) k_##symbol,
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK
  kCount
};

// A process may have several files of NCCL in it. A communicator of one must never be passed to a function of
// another, so each file has wrappers and real functions of its own. An NcclHook is a row together with a
// file. For a call through the exported names, the caller decides the file (nccl_files.h).
inline constexpr std::size_t kNcclHooks = static_cast<std::size_t>(NcclHook::kCount);
inline constexpr std::size_t kNcclFiles = 3;

constexpr NcclHook InFile(NcclHook hook, std::size_t file) {
  return static_cast<NcclHook>(static_cast<std::size_t>(hook) + file * kNcclHooks);
}
constexpr NcclHook RowOf(NcclHook hook) {
  return static_cast<NcclHook>(static_cast<std::size_t>(hook) % kNcclHooks);
}
constexpr std::size_t FileOf(NcclHook hook) { return static_cast<std::size_t>(hook) / kNcclHooks; }

// NcclTraits has the type and the name of a row.
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

template <NcclHook kHook>
using NcclFunction = typename NcclTraits<RowOf(kHook)>::Function;

template <NcclHook kHook, typename Function = NcclFunction<kHook>>
struct NcclFirstCall;

template <NcclHook kHook>
inline constinit std::atomic<NcclFunction<kHook>> real_nccl{&NcclFirstCall<kHook>::Call};

template <NcclHook kHook>
auto RealNccl() {
  return real_nccl<kHook>.load(std::memory_order_relaxed);
}

template <NcclHook kHook, typename... Arguments>
struct NcclFirstCall<kHook, NcclResult (*)(Arguments...)> {
  static NcclResult Call(Arguments... arguments) {
    const auto real = reinterpret_cast<NcclFunction<kHook>>(
        FindNcclSymbol(FileOf(kHook), NcclTraits<RowOf(kHook)>::kSymbol));
    if (real == nullptr) return kNcclSystemError;
    real_nccl<kHook>.store(real, std::memory_order_relaxed);
    return real(arguments...);
  }
};

}  // namespace crossover::hooks
