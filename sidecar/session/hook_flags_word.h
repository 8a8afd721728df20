// Defines the type of the word that a launch reads first, by one plain load. benchmarks/known_bad replaces
// this header to build a library that is slow on purpose.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::session {

using HookFlagsWord = std::atomic<std::uint32_t>;

}  // namespace crossover::session
