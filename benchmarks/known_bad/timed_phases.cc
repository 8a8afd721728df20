// The fault: clocks tell the phases apart. Before every collective, the host waits until the GPU has
// computed everything that was launched, so that the host can take the time. The GPU is then idle until the
// host has launched more.
#include <cuda.h>
#include <dlfcn.h>

#include "sidecar/session/session.h"

using crossover::phase::Call;
using crossover::phase::StreamKey;
using crossover::phase::Token;
using crossover::session::Session;

extern "C" {

void __real__ZN9crossover7session7Session16BeforeCollectiveEPKvNS_5phase5TokenEmiRKNS4_4CallE(
    Session* session, const void* communicator, Token token, StreamKey stream, int ranks, const Call& call);

void __wrap__ZN9crossover7session7Session16BeforeCollectiveEPKvNS_5phase5TokenEmiRKNS4_4CallE(
    Session* session, const void* communicator, Token token, StreamKey stream, int ranks, const Call& call) {
  static const auto synchronize = reinterpret_cast<CUresult (*)()>(dlsym(RTLD_DEFAULT, "cuCtxSynchronize"));
  if (synchronize != nullptr) synchronize();
  __real__ZN9crossover7session7Session16BeforeCollectiveEPKvNS_5phase5TokenEmiRKNS4_4CallE(
      session, communicator, token, stream, ranks, call);
}

}  // extern "C"
