// Measures sums over ranks, by levels and in bf16, and ways to add that are known to be bad. Each measure
// returns one number, and less is better. Pure.
#pragma once

#include <cstdint>

#include "shrink/codec/exchange.h"

namespace crossover::shrink_bits {

// An Exchange returns what each rank has afterwards.
using Exchange = shrink::Buffers (*)(const shrink::Buffers& buffers, const shrink::Topology& topology,
                                     const shrink::Format& format);

shrink::Buffers Flat(const shrink::Buffers& buffers, const shrink::Topology& topology,
                     const shrink::Format& format);
shrink::Buffers Hierarchical(const shrink::Buffers& buffers, const shrink::Topology& topology,
                             const shrink::Format& format);
// These are known to be bad: ranks of a ring decode, add and encode again at each hop; the owner of a chunk
// keeps the sum that it has encoded for the others.
shrink::Buffers RingOfCodes(const shrink::Buffers& buffers, const shrink::Topology& topology,
                            const shrink::Format& format);
shrink::Buffers OwnerKeepsSum(const shrink::Buffers& buffers, const shrink::Topology& topology,
                              const shrink::Format& format);

// Returns the largest relative squared error of the sum of 2, 8 and 32 ranks with 4 bits in buckets of 128.
double SumError(Exchange exchange);
// Returns how many elements have other bits on some rank than on the first, over several shapes and lengths,
// also where something is not finite.
double UnequalRanks(Exchange exchange);

// A ToHalf returns the bf16 of a float.
using ToHalf = std::uint16_t (*)(float value);
std::uint16_t CutOff(float value);  // is known to be bad: it drops the lower 16 bits

// Returns of how many floats, out of 2^20 over all exponents, the bf16 is not the nearest, and of two that
// are equally near the even one; or, of NaN, no quiet NaN.
double NotNearest(ToHalf to_half);
// Returns the relative squared error of a ring that adds 64 ranks in bf16.
double RingError(ToHalf to_half);

}  // namespace crossover::shrink_bits
