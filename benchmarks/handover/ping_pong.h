// The yardstick: two processes wake each other through a futex.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/handover/page.h"

namespace crossover::bench {

// Half round trips in ns, one of each of `rounds`; forks the other process and waits for its end.
std::vector<std::int64_t> HalfRoundTrips(SharedPage* shared, std::uint32_t rounds);

}  // namespace crossover::bench
