// How often this process allocated or locked, its preloaded libraries included.
#pragma once

#include <cstdint>

namespace crossover::bench {

std::uint64_t Allocations();
std::uint64_t Locks();

}  // namespace crossover::bench
