// One client: takes `turns` turns on a stream, each a kernel, handing over to the other client.
#pragma once

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Runs in a process of its own; returns when the last turn is over.
void RunClient(SharedPage* shared, std::uint32_t self, const Options& options);

// Stores `value` and wakes whoever sleeps on the word.
void StoreAndWake(std::uint32_t* word, std::uint32_t value);

}  // namespace crossover::bench
