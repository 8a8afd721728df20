// Converts floats to bf16 and back: the upper 16 bits of a float, which have the sign, all 8 bits of the
// exponent and 7 of the fraction. Freestanding (float_bits.h).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shrink/codec/float_bits.h"

namespace crossover::shrink {

// Returns the bf16 that is nearest to `value`; of two that are equally near, the one whose last bit is 0.
// A number that exceeds the largest bf16 by half a unit or more becomes infinite. Infinity stays, and NaN
// stays NaN, with its sign and the upper bits of its payload, and becomes quiet.
constexpr uint16_t ToBf16(float value) {
  const uint32_t bits = BitsOf(value);
  if (IsNaN(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Returns the float that has exactly the value of this bf16.
constexpr float FromBf16(uint16_t value) { return FloatOf(static_cast<uint32_t>(value) << 16); }

// Converts `count` floats. The arrays do not overlap.
constexpr void Narrow(const float* values, size_t count, uint16_t* narrow) {
  for (size_t i = 0; i < count; ++i) narrow[i] = ToBf16(values[i]);
}

// Converts `count` numbers back. The arrays do not overlap.
constexpr void Widen(const uint16_t* narrow, size_t count, float* values) {
  for (size_t i = 0; i < count; ++i) values[i] = FromBf16(narrow[i]);
}

}  // namespace crossover::shrink
