// Chooses bits for each chunk of a buffer: the fewest bytes whose expected squared error is within a budget.
// Pure.
//
// With b bits the expected squared error of a chunk is V / (2^b - 1)^2, where V is the sum, over its buckets,
// of count * (max - min)^2 / 6 (q8.h: u^2 / 6 for each element). The budget is alpha times the error that all
// chunks have with the same number of bits. CGX (arXiv 2111.08617) states this problem; L-GreCo (arXiv
// 2210.17357) solves it as a knapsack. Every rank has to make its choice from the same statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace crossover::shrink {

// ChunkStatistics are all that the choice needs to know of a chunk.
struct ChunkStatistics {
  std::size_t count = 0;     // elements
  double one_bit_error = 0;  // V: the expected squared error with one bit
};

struct AdaptiveRule {
  unsigned bucket = 512;       // Format::bucket
  unsigned least_bits = 2;     // 1 to most_bits
  unsigned most_bits = 8;      // up to kMostBits
  unsigned uniform_bits = 4;   // 1 to kMostBits: what the budget compares with
  double alpha = 1;            // finite, above 0
  std::size_t parts = 10'000;  // into which ChooseByKnapsack() divides the budget
};

// ChunkBits has the bits of each chunk, in the order of the statistics.
using ChunkBits = std::vector<std::uint8_t>;

// Returns the statistics of `count` values. Buckets that decode to NaN add no error: no number of bits
// changes them.
ChunkStatistics StatisticsOf(const float* values, std::size_t count, unsigned bucket);

// Returns the expected squared error of a chunk.
double ExpectedError(const ChunkStatistics& chunk, unsigned bits);

// Returns the largest expected squared error of all chunks together that the rule allows.
double BudgetOf(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule);

// Returns the encoded bytes of all chunks. `bits` has an element for each chunk.
std::uint64_t BytesOf(const std::vector<ChunkStatistics>& chunks, const ChunkBits& bits,
                      const AdaptiveRule& rule);

// Returns whether the expected error is at most `budget`, apart from the rounding of sums: one part in 10^12.
bool IsWithin(const std::vector<ChunkStatistics>& chunks, const ChunkBits& bits, double budget);

// Chooses by dynamic programming. Errors are rounded up to whole parts of the budget, so the budget always
// holds, and the answer has at most the bytes of the best one for a budget of (1 - chunks / parts). Returns
// nothing if there is no choice, or if the rule is not valid. It takes time and memory in proportion to
// chunks * parts.
std::optional<ChunkBits> ChooseByKnapsack(const std::vector<ChunkStatistics>& chunks,
                                          const AdaptiveRule& rule);

// Begins with the fewest bits everywhere, and adds a bit to the chunk whose error falls most for each byte
// that the bit costs, until the budget holds. Then it lowers the bits of chunks, the largest first, where the
// budget still holds. Returns nothing where even the most bits do not suffice, or if the rule is not valid.
std::optional<ChunkBits> ChooseGreedily(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule);

// Returns the better one of the two. With many chunks the knapsack loses more by its rounding than the greedy
// choice by its order.
std::optional<ChunkBits> ChooseBits(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule);

}  // namespace crossover::shrink
