// Draws uniform random numbers by hashing counters, so that a number depends on what it is for and never on
// the order of threads. Freestanding (float_bits.h).
#pragma once

#include <stdint.h>

namespace crossover::shrink {

// A Draw names the random numbers of one encoding. Encodings whose errors have to be independent differ in
// `seed` or `call`. `first` is the index of the first element in the buffer of its call: chunks of a buffer
// have the numbers that they would have in the whole.
struct Draw {
  uint64_t seed = 0;
  uint64_t call = 0;
  uint64_t first = 0;
};

inline constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio, odd

// Returns a permutation of 64 bits in which each bit of the argument changes about half of the result. It is
// the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA
// 2014).
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Returns what all elements of an encoding share. Elements of one key have the numbers of a SplitMix64 that
// starts there.
constexpr uint64_t KeyOf(const Draw& draw) { return Mix(Mix(draw.seed + kGolden) ^ Mix(~draw.call)); }

// Returns the number of an element, a multiple of 2^-24 in [0, 1).
constexpr float Uniform(uint64_t key, uint64_t element) {
  return static_cast<float>(Mix(key + (element + 1) * kGolden) >> 40) * 0x1p-24f;
}

// A Rounding says which random numbers a call of a collective takes. All ranks have the same.
struct Rounding {
  uint64_t seed = 0;
  uint64_t call = 0;
};

// Returns the Draw::call of one encoding: `step` is 0 for contributions and 1 for sums. No two encodings of a
// call share numbers, or else errors would not be independent.
constexpr uint64_t CallOf(const Rounding& rounding, uint64_t ranks, uint64_t rank, unsigned step) {
  return (rounding.call * ranks + rank) * 2 + step;
}

}  // namespace crossover::shrink
