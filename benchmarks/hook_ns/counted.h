// Counts how often the calling thread has allocated memory and taken a mutex, in preloaded libraries too.
#pragma once

#include <cstdint>

namespace crossover::bench {

std::uint64_t Allocations();
std::uint64_t Locks();

}  // namespace crossover::bench
