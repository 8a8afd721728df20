// Converts the 16-bit floats, IEEE binary16 and bfloat16, to and from float32. Rounds to nearest even and
// keeps NaN and infinity. Pure.
#pragma once

#include <cstdint>

namespace simgpu {

float HalfToFloat(std::uint16_t half);
std::uint16_t FloatToHalf(float value);
float BfloatToFloat(std::uint16_t value);
std::uint16_t FloatToBfloat(float value);

}  // namespace simgpu
