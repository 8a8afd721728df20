// Chooses bits for each chunk of a buffer: the fewest bytes whose expected squared error is within a budget.
// Pure. Works on the caller's memory and allocates nothing; adaptive.h has the same on vectors.
//
// With b bits the expected squared error of a chunk is V / (2^b - 1)^2, where V is the sum, over its buckets,
// of count * (max - min)^2 / 6 (q8.h: u^2 / 6 for each element). The budget is alpha times the error that all
// chunks have with the same number of bits. CGX (arXiv 2111.08617) states this problem; L-GreCo (arXiv
// 2210.17357) solves it as a knapsack. Every rank has to make its choice from the same statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

using Chunks = std::span<const ChunkStatistics>;
using Bits = std::span<const std::uint8_t>;

// Returns the expected squared error of a chunk.
double ExpectedError(const ChunkStatistics& chunk, unsigned bits);

// Returns the largest expected squared error of all chunks together that the rule allows.
double BudgetOf(Chunks chunks, const AdaptiveRule& rule);

// Returns the encoded bytes of all chunks. `bits` has an element for each chunk.
std::uint64_t BytesOf(Chunks chunks, Bits bits, const AdaptiveRule& rule);

// Returns whether the expected error is at most `budget`, apart from the rounding of sums: one part in 10^12.
bool IsWithin(Chunks chunks, Bits bits, double budget);

// A Raise gives a chunk one bit more.
struct Raise {
  double gain = 0;  // of error for each byte
  std::size_t chunk = 0;
};

// A ChoiceRoom is memory for a choice: each span has at least the size that is said here, with `chunks` that
// of the list. What it has before and after has no meaning.
struct ChoiceRoom {
  std::span<std::uint64_t> best, next;  // rule.parts + 1
  std::span<std::uint8_t> chosen;       // chunks * (rule.parts + 1)
  std::span<Raise> raises;              // chunks
  std::span<std::size_t> order;         // chunks
  std::span<std::uint8_t> before;       // chunks
};

// These set `bits`, which has an element for each chunk, and return true. They return false if there is no
// choice, or if the rule is not valid; then `bits` has no meaning.
//
// By dynamic programming. Errors are rounded up to whole parts of the budget, so the budget always holds, and
// the answer has at most the bytes of the best one for a budget of (1 - chunks / parts). It takes time in
// proportion to chunks * parts. Uses best, next and chosen.
bool ChooseByKnapsack(Chunks chunks, const AdaptiveRule& rule, const ChoiceRoom& room,
                      std::span<std::uint8_t> bits);

// Begins with the fewest bits everywhere, and adds a bit to the chunk whose error falls most for each byte
// that the bit costs, until the budget holds. Then it lowers the bits of chunks, the largest first, where the
// budget still holds. Uses raises, order and before.
bool ChooseGreedily(Chunks chunks, const AdaptiveRule& rule, const ChoiceRoom& room,
                    std::span<std::uint8_t> bits);

// Chooses by both, and takes the better one. With many chunks the knapsack loses more by its rounding than
// the greedy choice by its order. `other` has an element for each chunk, too.
bool ChooseBits(Chunks chunks, const AdaptiveRule& rule, const ChoiceRoom& room,
                std::span<std::uint8_t> other, std::span<std::uint8_t> bits);

}  // namespace crossover::shrink
