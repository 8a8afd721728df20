// The fault: a turn is given back only when the next one is asked for. By then the compute stream has
// joined the collective. The release therefore waits for the collective, and the GPU is idle while it runs.
#include "sidecar/session/turns.h"

using crossover::phase::StreamKey;
using crossover::phase::Tracker;
using crossover::session::Turns;

namespace {

bool owed = false;  // a release is due; guarded by the lock of the process's only session

}  // namespace

extern "C" {

bool __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEb(Turns* turns, const Tracker& tracker,
                                                                      bool capturing);
bool __real__ZN9crossover7session5Turns7AcquireEmmRKNS_5phase7TrackerEb(Turns* turns, StreamKey stream,
                                                                        StreamKey launching,
                                                                        const Tracker& tracker,
                                                                        bool capturing);

bool __wrap__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEb(Turns* turns, const Tracker&, bool) {
  owed = true;
  turns->Abandon();
  return true;
}

bool __wrap__ZN9crossover7session5Turns7AcquireEmmRKNS_5phase7TrackerEb(Turns* turns, StreamKey stream,
                                                                        StreamKey launching,
                                                                        const Tracker& tracker,
                                                                        bool capturing) {
  if (owed) __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEb(turns, tracker, capturing);
  owed = false;
  return __real__ZN9crossover7session5Turns7AcquireEmmRKNS_5phase7TrackerEb(turns, stream, launching, tracker,
                                                                            capturing);
}

}  // extern "C"
