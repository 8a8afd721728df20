#include "shrink/codec/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

constexpr std::uint32_t kBf16Numbers = 1 << 16;

// Returns the bf16 below or equal to a finite value of positive sign, and the one above, as floats.
std::pair<double, double> Around(float value) {
  const auto below = static_cast<std::uint16_t>(BitsOf(value) >> 16);
  const auto above = static_cast<std::uint16_t>(below + 1);
  // The next number after the largest would have the value 2^128.
  return {FromBf16(below), above == 0x7f80 ? 0x1p128 : static_cast<double>(FromBf16(above))};
}

TEST(Bf16Test, EveryNumberComesBackExactlyAndNanStaysQuietNan) {
  for (std::uint32_t bits = 0; bits < kBf16Numbers; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    const float value = FromBf16(narrow);
    if (std::isnan(value))
      ASSERT_EQ(ToBf16(value), narrow | 0x40) << bits;
    else
      ASSERT_EQ(ToBf16(value), narrow) << bits;
  }
}

TEST(Bf16Test, RoundsToTheNearestAndHalfwayToTheEven) {
  std::mt19937_64 random(1);
  for (std::uint32_t upper = 0; upper < 0x7f80; ++upper) {
    const std::uint32_t lower[] = {
        0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, static_cast<std::uint32_t>(random() & 0xffff)};
    for (const std::uint32_t low : lower) {
      const float value = FloatOf(upper << 16 | low);
      const auto [below, above] = Around(value);
      const double to_below = value - below, to_above = above - value;
      const bool up = to_above < to_below || (to_above == to_below && upper % 2 == 1);
      const auto expected = static_cast<std::uint16_t>(upper + (up ? 1 : 0));
      ASSERT_EQ(ToBf16(value), expected) << upper << " " << low;
      ASSERT_EQ(ToBf16(-value), expected | 0x8000) << upper << " " << low;
    }
  }
}

TEST(Bf16Test, EveryNanStaysNanAndInfinityStays) {
  // A carry out of the fraction would make these infinite, or 0.
  for (const std::uint32_t bits :
       {0x7f800001u, 0x7f80ffffu, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    const std::uint16_t narrow = ToBf16(FloatOf(bits));
    EXPECT_TRUE(std::isnan(FromBf16(narrow))) << bits;
    EXPECT_TRUE(narrow & 0x40) << bits;
    EXPECT_EQ(narrow >> 15, bits >> 31);
  }
  EXPECT_EQ(ToBf16(FloatOf(kInfinityBits)), 0x7f80);
  EXPECT_EQ(ToBf16(-FloatOf(kInfinityBits)), 0xff80);
  EXPECT_EQ(ToBf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(ToBf16(FloatOf(0x7f7f7fff)), 0x7f7f);
}

TEST(Bf16Test, ArraysOfAnyLengthAreConverted) {
  for (const std::size_t count : {0u, 1u, 3u, 1023u}) {
    const Floats values = Gaussian(count, 3);
    std::vector<std::uint16_t> narrow(count + 1, 0xabcd);
    Floats wide(count + 1, 7);
    Narrow(values.data(), count, narrow.data());
    Widen(narrow.data(), count, wide.data());
    EXPECT_EQ(narrow[count], 0xabcd);
    EXPECT_EQ(wide[count], 7);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(narrow[i], ToBf16(values[i]));
      EXPECT_LE(std::abs(wide[i] - values[i]), std::abs(values[i]) * 0x1p-8f);
    }
  }
}

// Returns the error of a sum that is rounded to bf16 after each rank, as a ring of so many ranks has it.
double ErrorOfRing(std::size_t ranks) {
  constexpr std::size_t kCount = 20'000;
  Floats exact(kCount, 0), sum(kCount, 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Floats values = Gaussian(kCount, rank + 1);
    for (std::size_t i = 0; i < kCount; ++i) {
      exact[i] += values[i];
      sum[i] = FromBf16(ToBf16(sum[i] + FromBf16(ToBf16(values[i]))));
    }
  }
  return RelativeError(sum, exact);
}

TEST(Bf16Test, TheErrorOfARingGrowsWithItsRanks) {
  const double two = ErrorOfRing(2), many = ErrorOfRing(64);
  RecordProperty("ring_2", std::to_string(two));
  RecordProperty("ring_64", std::to_string(many * 1e6));
  EXPECT_NEAR(two, 6e-6, 3e-6);
  EXPECT_NEAR(many, 7e-5, 3e-5);
}

static_assert(ToBf16(1.0f) == 0x3f80 && FromBf16(0x3f80) == 1.0f);

}  // namespace
}  // namespace crossover::shrink
