// Defines the pointers through which the exported functions of exports_entry.S jump.

#include "shrink/library/wrappers.h"

namespace crossover::shrink::library {

#define SHRINK_HOOK(symbol, type, policy)                                        \
  extern "C" Traits<Hook::k_##symbol>::Function const crossover_export_##symbol; \
  Traits<Hook::k_##symbol>::Function const crossover_export_##symbol = &Export<Hook::k_##symbol>::Call;
#include "shrink/library/hooks.def"
#undef SHRINK_HOOK

}  // namespace crossover::shrink::library
