// Defines the type of the word that a launch reads first: one plain load. A library that is built to be
// slow has another type here (benchmarks/known_bad).
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::session {

using AttentionWord = std::atomic<std::uint32_t>;

}  // namespace crossover::session
