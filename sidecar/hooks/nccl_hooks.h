// Defines the wrappers of the NCCL table, which callers get in place of NCCL's functions.
#pragma once

#include "sidecar/hooks/nccl_policies.h"
#include "sidecar/hooks/nccl_table.h"

namespace crossover::hooks {

template <NcclHook kHook>
struct NcclPolicy;

#define NCCL_HOOK(symbol, type, policy)     \
  template <>                               \
  struct NcclPolicy<NcclHook::k_##symbol> { \
    using Type = policy;                    \
  };
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK

template <NcclHook kHook, typename Function = NcclFunction<kHook>>
struct NcclWrapper;

template <NcclHook kHook, typename... Arguments>
struct NcclWrapper<kHook, NcclResult (*)(Arguments...)> {
  static NcclResult Call(Arguments... arguments) {
    return NcclPolicy<RowOf(kHook)>::Type::template Run<kHook>(arguments...);
  }
};

// An NcclExport is the function that the library exports for a row. It finds the caller's file of NCCL by the
// address that the call returns to.
template <NcclHook kHook, typename Function = NcclFunction<kHook>>
struct NcclExport;

template <NcclHook kHook, typename... Arguments>
struct NcclExport<kHook, NcclResult (*)(Arguments...)> {
  static NcclResult Call(Arguments... arguments) {
    static_assert(kNcclFiles == 3);
    const void* site = __builtin_return_address(0);
    const char* symbol = NcclTraits<kHook>::kSymbol;
    const std::size_t file = NcclFileOfCall(site, symbol, kNcclFiles);
    if (file == 0) return NcclWrapper<InFile(kHook, 0)>::Call(arguments...);
    if (file == 1) return NcclWrapper<InFile(kHook, 1)>::Call(arguments...);
    if (file == 2) return NcclWrapper<InFile(kHook, 2)>::Call(arguments...);
    // There are no wrappers for yet another file, so the call goes to the real function.
    const auto real = reinterpret_cast<NcclFunction<kHook>>(FindNcclAnywhere(site, symbol));
    return real == nullptr ? kNcclSystemError : real(arguments...);
  }
};

}  // namespace crossover::hooks
