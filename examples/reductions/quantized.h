// Adds gradients as levels of a few bits, in two steps (scatter-reduce-all-gather, as in CGX, arXiv
// 2111.08617): the owner of a part decodes and adds what the others have, encodes the sum once, and decodes
// its own copy from the same bytes. So a value is encoded twice, whatever the number of ranks is, and all
// ranks end with the same bits. shrink/codec has the codec and an oracle for the results (exchange.h).
#pragma once

#include <cstdint>
#include <span>

#include "examples/reductions/groups.h"
#include "shrink/codec/adaptive.h"

namespace crossover::reductions {

// A Quantizer says how the values of a chunk are encoded. Chunks are `chunk` elements, a multiple of
// rule.bucket; the last one may have fewer.
struct Quantizer {
  std::size_t chunk = 512;
  unsigned bits = 0;  // 1 to 8 for all chunks; 0: each chunk has its own, by `rule`
  shrink::AdaptiveRule rule;
  bool to_nearest = false;  // rounds to the nearest level: known to be bad, for tests
};

// Returns 8 bits in buckets of 512, which are 0.254 of the bytes of floats.
Quantizer EightBits();
// Returns chunks of 512 in buckets of 128, each with 2 to 8 bits: the fewest bytes with the error of 4 bits
// everywhere.
Quantizer AdaptiveBits();
// Returns 2 bits of levels to the nearest: biased, and so known to be bad.
Quantizer TwoBitsToNearest();

// Replaces `values` by their sum over all ranks. All ranks give the same number of values and the same
// `quantizer` and `rounding`, whose `call` differs from call to call. Where the values of a bucket are not
// finite on some rank, all ranks get NaN for the bucket.
void ReduceQuantized(const Groups& groups, std::span<float> values, const Quantizer& quantizer,
                     const shrink::Rounding& rounding);

// Moves each value to the nearest of the levels of its bucket, which encoding then finds again.
void RoundToLevels(std::span<float> values, const shrink::Format& format);

}  // namespace crossover::reductions
