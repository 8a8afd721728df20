// Measures how fast two processes wake each other through a futex, to compare hand-overs with.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Returns half the round-trip time, in ns, for each of `rounds` rounds (at most kMaxRounds). Forks both
// sides and waits until they end. Each side sleeps for `pause_us` before it answers, and this time is not
// counted. A wake-up then costs the same as after a turn of that length.
std::vector<std::int64_t> HalfRoundTrips(SharedPage* shared, std::uint32_t rounds, std::int64_t pause_us);

}  // namespace crossover::bench
