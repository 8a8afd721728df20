// The fault: physical memory counts as freed when its last handle is released, although it is still mapped.
#include "sidecar/memory/accounting.h"

using crossover::memory::Accounting;

extern "C" {

void __wrap__ZN9crossover6memory10Accounting3MapEmmm(Accounting*, std::uint64_t, std::uint64_t,
                                                     std::uint64_t) {}

}  // extern "C"
