// The fault: no word says that the process lives, so that its death is known only once its socket ends.
#include <cstdint>

#include "sidecar/link/liveness.h"

using crossover::link::Liveness;

extern "C" {

bool __wrap__ZN9crossover4link8Liveness5StartEPj(Liveness*, std::uint32_t*) { return true; }

void __wrap__ZN9crossover4link8Liveness4StopEv(Liveness*) {}

}  // extern "C"
