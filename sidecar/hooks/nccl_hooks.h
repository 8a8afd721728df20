// The wrappers of the NCCL table: what callers get in place of NCCL's functions.
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

}  // namespace crossover::hooks
