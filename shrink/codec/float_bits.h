// Reads and makes floats by their bits.
//
// This header, bf16.h, draw.h and q8.h are freestanding: they need no library, throw nothing and allocate
// nothing. All of their functions are constexpr, so clang also compiles them for a GPU, as C++ for nvptx64 or
// as CUDA. They are the same bit for bit everywhere if arithmetic is IEEE 754 in 32 bits: no -ffast-math,
// subnormal numbers are kept, divisions are rounded correctly, and -ffp-contract=off keeps a multiplication
// apart from an addition.
#pragma once

#include <stdint.h>

#if defined(__FAST_MATH__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#error "the codecs need IEEE 754 arithmetic in 32 bits, without -ffast-math"
#endif

namespace crossover::shrink {

static_assert(sizeof(float) == sizeof(uint32_t));

constexpr uint32_t BitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }
constexpr float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

inline constexpr uint32_t kInfinityBits = 0x7f800000;
// Operations on NaN give other bits on a GPU than on a CPU, so the codecs put in this NaN by its bits.
inline constexpr float kNaN = FloatOf(0x7fc00000);

// Returns whether the value is neither NaN nor infinite.
constexpr bool IsFinite(float value) { return (BitsOf(value) & kInfinityBits) != kInfinityBits; }

// Returns whether the value is NaN.
constexpr bool IsNaN(float value) { return (BitsOf(value) & 0x7fffffff) > kInfinityBits; }

}  // namespace crossover::shrink
