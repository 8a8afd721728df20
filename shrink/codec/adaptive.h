// Chooses bits for each chunk of a buffer, on vectors: shrink/codec/choice.h says how. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shrink/codec/choice.h"

namespace crossover::shrink {

// ChunkBits has the bits of each chunk, in the order of the statistics.
using ChunkBits = std::vector<std::uint8_t>;

// Returns the statistics of `count` values. Buckets that decode to NaN add no error: no number of bits
// changes them.
ChunkStatistics StatisticsOf(const float* values, std::size_t count, unsigned bucket);

// These return nothing if there is no choice, or if the rule is not valid. ChooseByKnapsack() takes memory in
// proportion to chunks * parts.
std::optional<ChunkBits> ChooseByKnapsack(const std::vector<ChunkStatistics>& chunks,
                                          const AdaptiveRule& rule);
std::optional<ChunkBits> ChooseGreedily(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule);
std::optional<ChunkBits> ChooseBits(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule);

}  // namespace crossover::shrink
