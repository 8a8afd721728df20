// Runs the vote in the process of each rank but rank 0: a thin layer of a socket and a clock around
// vote::Voter.
#pragma once

#include "shrink/meeting/limits.h"
#include "shrink/meeting/tail.h"

namespace crossover::shrink::meeting {

// Connects to the process of rank 0 at `place`, says what `own` says, or no if this rank is not `ready`, and
// waits for the verdict. Returns kNarrow, kPlain or kFailed; a rank that failed must not continue. Blocks for
// at most the limits of the greeting and of the verdict. Allocates nothing. Thread-safe.
// REQUIRES: `own` is the hello of a rank that is not 0.
Outcome Speak(const Place& place, const vote::Hello& own, bool ready, const Limits& limits,
              const Watcher& watcher);

}  // namespace crossover::shrink::meeting
