// How often the calling thread allocated or took a lock, in preloaded libraries too.
#pragma once

#include <cstdint>

namespace crossover::bench {

std::uint64_t Allocations();
std::uint64_t Locks();

}  // namespace crossover::bench
