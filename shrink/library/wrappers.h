// Defines the wrappers of the table, which callers get in place of NCCL's functions.
#pragma once

#include "shrink/library/policies.h"
#include "shrink/library/table.h"

namespace crossover::shrink::library {

template <Hook kHook>
struct PolicyOf;
#define SHRINK_HOOK(symbol, type, policy) \
  template <>                             \
  struct PolicyOf<Hook::k_##symbol> {     \
    using Type = policy;                  \
  };
#include "shrink/library/hooks.def"
#undef SHRINK_HOOK

// A Wrapper is for callers that have looked up a function of the first file of NCCL.
template <Hook kHook, typename Function = typename Traits<kHook>::Function>
struct Wrapper;

template <Hook kHook, typename... Arguments>
struct Wrapper<kHook, NcclResult (*)(Arguments...)> {
  using Function = NcclResult (*)(Arguments...);
  static NcclResult Call(Arguments... arguments) {
    const auto real = reinterpret_cast<Function>(RealFunction(kHook, Traits<kHook>::kSymbol));
    if (real == nullptr) return hooks::kNcclSystemError;
    if (!IsOn()) return real(arguments...);
    return PolicyOf<kHook>::Type::Run(real, arguments...);
  }
};

// An Export is the function that the library exports for a row. It finds the file of NCCL by the address that
// the call returns to.
template <Hook kHook, typename Function = typename Traits<kHook>::Function>
struct Export;

template <Hook kHook, typename... Arguments>
struct Export<kHook, NcclResult (*)(Arguments...)> {
  using Function = NcclResult (*)(Arguments...);
  static NcclResult Call(Arguments... arguments) {
    const Target target = TargetOf(kHook, Traits<kHook>::kSymbol, __builtin_return_address(0));
    const auto real = reinterpret_cast<Function>(target.function);
    if (real == nullptr) return hooks::kNcclSystemError;
    if (!target.first_file || !IsOn()) return real(arguments...);
    return PolicyOf<kHook>::Type::Run(real, arguments...);
  }
};

}  // namespace crossover::shrink::library
