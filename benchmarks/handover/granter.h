// The processes beside the clients: a polling granter, and one that stops the releasing host now and then.
#pragma once

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Candidate (c): looks at the clients' words every `poll_us` and opens the other's gate after a release.
// Returns the share of a core that it used.
double Poll(SharedPage* shared, const Options& options);

// Until the clients are done: the host stands still for 100 of every 400 ms.
void Throttle(SharedPage* shared);

// Opens the first gate and lets the clients begin, once both are there.
void Begin(SharedPage* shared);

}  // namespace crossover::bench
