// Runs one client: it takes `turns` turns on a stream, with one kernel in each, and hands over to the other
// client.
#pragma once

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Runs the client `self`. Returns when its last turn is over. REQUIRES: each client has a process of its
// own.
void RunClient(SharedPage* shared, std::uint32_t self, const Options& options);

// Stores `value` in `word` and wakes all threads that wait on it.
void StoreAndWake(std::uint32_t* word, std::uint32_t value);

}  // namespace crossover::bench
