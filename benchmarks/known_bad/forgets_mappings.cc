// The fault: physical memory counts as freed when its last handle is released, although it is still mapped.
#include "sidecar/memory/ledger.h"

using crossover::memory::Ledger;

extern "C" {

void __wrap__ZN9crossover6memory6Ledger3MapEmmm(Ledger*, std::uint64_t, std::uint64_t, std::uint64_t) {}

}  // extern "C"
