// The yardstick: two processes wake each other through a futex.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Half round trips in ns, one of each of `rounds`, at most kMaxRounds; forks both sides and waits for their
// end. `pause_us`: each side sleeps as long before it answers, which is not counted: a wake-up then costs
// what it costs after a turn of that length.
std::vector<std::int64_t> HalfRoundTrips(SharedPage* shared, std::uint32_t rounds, std::int64_t pause_us);

}  // namespace crossover::bench
