// Runs the processes next to the clients: a polling granter, and one that stops the releasing host from time
// to time.
#pragma once

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Implements candidate (c): looks at the clients' words every `poll_us` and opens the other client's gate
// after a release. Returns when both clients are done. The result is the fraction of a core that it used.
double Poll(SharedPage* shared, const Options& options);

// Marks the host of the releasing process as stopped for 100 of every 400 ms. Returns when both clients are
// done.
void Throttle(SharedPage* shared);

// Blocks until both clients are ready. Then opens the first gate and lets the clients start.
void Begin(SharedPage* shared);

}  // namespace crossover::bench
