// The yardstick: two processes wake each other through a futex.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Half round trips in ns, one of each of `rounds`; forks the other process and waits for its end. `pause_us`:
// each side sleeps as long before it answers, which is not counted. Without a pause both stay awake, and may
// find each other on one core; with one, a wake-up costs what it costs after a turn of that length.
std::vector<std::int64_t> HalfRoundTrips(SharedPage* shared, std::uint32_t rounds, std::int64_t pause_us);

}  // namespace crossover::bench
