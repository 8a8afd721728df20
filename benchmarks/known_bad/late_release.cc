// The fault: a turn is given back only when the next one is asked for. By then the compute stream has
// joined the collective. The release therefore waits for the collective, and the GPU is idle while it runs.
#include <optional>

#include "sidecar/session/turns.h"

using crossover::phase::StreamKey;
using crossover::phase::Tracker;
using crossover::session::Turns;

namespace {

// The release that is due; guarded by the lock of the process's only session.
std::optional<Turns::Next> owed;

}  // namespace

extern "C" {

bool __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(Turns* turns,
                                                                                const Tracker& tracker,
                                                                                bool capturing,
                                                                                Turns::Next next);
bool __real__ZN9crossover7session5Turns7AcquireEmmRKNS_5phase7TrackerEb(Turns* turns, StreamKey stream,
                                                                        StreamKey launching,
                                                                        const Tracker& tracker,
                                                                        bool capturing);

bool __wrap__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(Turns* turns, const Tracker&,
                                                                                bool, Turns::Next next) {
  owed = next;
  turns->Abandon();
  return true;
}

bool __wrap__ZN9crossover7session5Turns7AcquireEmmRKNS_5phase7TrackerEb(Turns* turns, StreamKey stream,
                                                                        StreamKey launching,
                                                                        const Tracker& tracker,
                                                                        bool capturing) {
  if (owed.has_value())
    __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(turns, tracker, capturing,
                                                                               *owed);
  owed.reset();
  return __real__ZN9crossover7session5Turns7AcquireEmmRKNS_5phase7TrackerEb(turns, stream, launching, tracker,
                                                                            capturing);
}

}  // extern "C"
