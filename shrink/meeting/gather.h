// Runs the vote in the process of rank 0: a thin layer of sockets and a clock around vote::Collector.
#pragma once

#include "shrink/meeting/limits.h"
#include "shrink/meeting/sockets.h"

namespace crossover::shrink::meeting {

// Greets and hears the ranks that connect to `listener`, decides, and tells them. Returns kNarrow or kPlain:
// rank 0 itself never fails. Blocks for at most the limits of the vote and of lingering. Owns the listener,
// and closes it once the vote is decided. Allocates; if there is no memory, the outcome is kPlain.
// Thread-safe. REQUIRES: `own` is the hello of rank 0, with at least 2 ranks.
Outcome Gather(UniqueFd listener, const vote::Hello& own, const Limits& limits, const Watcher& watcher);

}  // namespace crossover::shrink::meeting
