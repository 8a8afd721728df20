#include "shrink/codec/q8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
constexpr std::size_t kCounts[] = {0,   1,   2,   7,   8,   9,    15,   17,   99,
                                   100, 101, 511, 512, 513, 1023, 1024, 1025, 4099};
constexpr unsigned kBuckets[] = {1, 3, 8, 100, 512, kMostBucket};

// Returns the bytes of the format's description, bucket by bucket and bit by bit.
std::size_t BytesByHand(std::size_t count, unsigned bits, std::size_t bucket) {
  std::size_t bytes = 0;
  for (; count > 0; count -= std::min(count, bucket)) {
    bytes += 2 * sizeof(float);
    const std::size_t level_bits = std::min(count, bucket) * bits;
    bytes += level_bits / 8 + (level_bits % 8 != 0 ? 1 : 0);
  }
  return bytes;
}

template <class See>
void ForAllFormats(See see) {
  for (const std::size_t count : kCounts)
    for (unsigned bits = 1; bits <= kMostBits; ++bits)
      for (const unsigned bucket : kBuckets) see(count, Format{bits, bucket});
}

TEST(Q8Test, ExactlyTheBytesOfTheFormulaAreWritten) {
  ForAllFormats([](std::size_t count, const Format& format) {
    const std::size_t size = EncodedBytes(count, format.bits, format.bucket);
    ASSERT_EQ(size, BytesByHand(count, format.bits, format.bucket))
        << count << " " << format.bits << " " << format.bucket;
    const Floats values = Gaussian(count, count + 1);
    std::vector<std::uint8_t> zeros(size + 2, 0), ones(size + 2, 0xff);
    for (auto* bytes : {&zeros, &ones})
      ASSERT_TRUE(Encode(values.data(), count, format, {}, bytes->data() + 1, size));
    ASSERT_EQ(zeros.front(), 0);
    ASSERT_EQ(zeros.back(), 0);
    ASSERT_EQ(ones.front(), 0xff);
    ASSERT_EQ(ones.back(), 0xff);
    ASSERT_TRUE(std::equal(zeros.begin() + 1, zeros.end() - 1, ones.begin() + 1)) << "a byte is not written";
  });
}

TEST(Q8Test, EachElementIsWithinOneStepForAnyCount) {
  ForAllFormats([](std::size_t count, const Format& format) {
    const Floats values = Gaussian(count, count + 2);
    const auto decoded = RoundTrip(values, format, {1, 2, 0});
    ASSERT_TRUE(decoded);
    for (std::size_t begin = 0; begin < count; begin += format.bucket) {
      const std::size_t end = std::min<std::size_t>(count, begin + format.bucket);
      const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
      const Scale scale = ScaleOfValues({values.begin() + at(begin), values.begin() + at(end)}, format.bits);
      for (std::size_t i = begin; i < end; ++i)
        ASSERT_LE(std::abs((*decoded)[i] - values[i]), scale.step * 1.0001f + std::abs(values[i]) * 1e-6f)
            << count << " " << format.bits << " " << format.bucket << " " << i;
    }
  });
}

TEST(Q8Test, LevelsAreWhereTheLayoutSaysTheyAre) {
  // With 3 bits and the values 0 to 7 each value is its own level.
  const Floats values = {0, 1, 2, 3, 4, 5, 6, 7, 7, 0};
  const auto bytes = Encoded(values, {3, 512}, {});
  ASSERT_EQ(bytes.size(), 8 + 4u);
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 8),
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0x80, 0x3f}));  // 0.0 and 1.0
  std::uint64_t packed = 0;
  for (std::size_t i = 0; i < values.size(); ++i) packed |= static_cast<std::uint64_t>(values[i]) << (3 * i);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(bytes[8 + i], static_cast<std::uint8_t>(packed >> (8 * i)));
}

TEST(Q8Test, ALevelIsTheFloorOfTheExactSum) {
  constexpr float kMost = 1 - 0x1p-24f;  // the largest t
  const Scale ones{0, 1};
  EXPECT_EQ(LevelOf(0.5f, ones, 8, 0.5f), 1u);
  EXPECT_EQ(LevelOf(0.5f, ones, 8, 0.5f - 0x1p-24f), 0u);
  EXPECT_EQ(LevelOf(0x1p-24f, ones, 8, kMost), 1u);
  EXPECT_EQ(LevelOf(0x1p-25f, ones, 8, kMost), 0u);
  // The sum of these two, rounded to a float, is 255.
  EXPECT_EQ(LevelOf(254, ones, 8, kMost), 254u);
  EXPECT_EQ(LevelOf(254.9f, ones, 8, kMost), 255u);
  EXPECT_EQ(LevelOf(255, ones, 8, kMost), 255u);
  EXPECT_EQ(LevelOf(255.5f, ones, 8, 0), 255u);
  EXPECT_EQ(LevelOf(7, {7, 0}, 8, kMost), 0u);
}

TEST(Q8Test, ConstantBucketsAndZerosComeBackExactly) {
  for (const float value : {0.0f, 1.0f, -3.3f, kSmallest, -kSmallest, kLargest, -kLargest, 1e-30f}) {
    for (unsigned bits = 1; bits <= kMostBits; ++bits) {
      const Floats values(777, value);
      EXPECT_EQ(AllBits(RoundTrip(values, {bits, 100}, {3, 4, 0}).value()), AllBits(values)) << value;
    }
  }
  const Floats zeros = {-0.0f, 0.0f, -0.0f};
  EXPECT_EQ(AllBits(RoundTrip(zeros, {}, {}).value()), AllBits({0, 0, 0}));
}

TEST(Q8Test, ARangeOfFewSubnormalUnitsComesBackExactly) {
  // The quotient of the range and 255 is below the smallest float. A step of 0 would lose the values, or
  // divide by 0.
  for (const float unit : {kSmallest, -kSmallest}) {
    const Floats values = {0, unit, 3 * unit, 200 * unit, 254 * unit};
    EXPECT_EQ(AllBits(RoundTrip(values, {}, {}).value()), AllBits(values));
  }
  // The quotient is 1.4 units here. A step of 1 unit would cut off the greatest values.
  const Floats values = {0, 100 * kSmallest, 357 * kSmallest};
  const auto decoded = RoundTrip(values, {}, {});
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_LE(std::abs(decoded.value()[i] - values[i]), 2 * kSmallest) << i;
}

TEST(Q8Test, DecodeAddAddsWhatDecodeGives) {
  ForAllFormats([](std::size_t count, const Format& format) {
    const Floats values = Gaussian(count, count + 3), before = Gaussian(count, count + 4);
    const auto bytes = Encoded(values, format, {5, 6, 0});
    Floats decoded(count), sum = before;
    ASSERT_TRUE(Decode(bytes.data(), bytes.size(), count, format, decoded.data()));
    ASSERT_TRUE(DecodeAdd(bytes.data(), bytes.size(), count, format, sum.data()));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(BitsOf(sum[i]), BitsOf(before[i] + decoded[i]));
  });
}

TEST(Q8Test, AWrongSizeOrFormatIsRefusedAndNothingIsWritten) {
  const Floats values = Gaussian(1000, 1);
  auto bytes = Encoded(values, {}, {});
  Floats decoded(1000, 7);
  std::vector<std::uint8_t> other(bytes.size() + 1, 0xab);
  for (const std::size_t size : {std::size_t{0}, bytes.size() - 1, bytes.size() + 1}) {
    EXPECT_FALSE(Encode(values.data(), 1000, {}, {}, other.data(), size));
    EXPECT_FALSE(Decode(bytes.data(), size, 1000, {}, decoded.data()));
    EXPECT_FALSE(DecodeAdd(bytes.data(), size, 1000, {}, decoded.data()));
  }
  for (const Format format : {Format{0, 512}, Format{9, 512}, Format{8, 0}, Format{8, kMostBucket + 1}}) {
    EXPECT_EQ(EncodedBytes(1000, format.bits, format.bucket), 0u);
    EXPECT_FALSE(Encode(values.data(), 1000, format, {}, other.data(), 0));
    EXPECT_FALSE(Decode(bytes.data(), 0, 1000, format, decoded.data()));
  }
  EXPECT_FALSE(Decode(bytes.data(), bytes.size(), kMostCount + 1, {}, decoded.data()));
  EXPECT_EQ(EncodedBytes(kMostCount, 8, 1), kMostCount * 9);
  EXPECT_EQ(other, std::vector<std::uint8_t>(other.size(), 0xab));
  EXPECT_EQ(decoded, Floats(1000, 7));
}

TEST(Q8Test, ABucketWithSomethingNotFiniteIsNanAndItsNeighboursAreNot) {
  const float bad[] = {kNaN, -kNaN, FloatOf(kInfinityBits), -FloatOf(kInfinityBits), FloatOf(0x7f800001)};
  for (const float value : bad) {
    for (const std::size_t place : {0u, 7u, 99u}) {
      Floats values = Gaussian(300, 9);
      values[100 + place] = value;
      const auto decoded = RoundTrip(values, {8, 100}, {});
      Floats sum(300, 1);
      const auto bytes = Encoded(values, {8, 100}, {});
      ASSERT_TRUE(DecodeAdd(bytes.data(), bytes.size(), 300, {8, 100}, sum.data()));
      for (std::size_t i = 0; i < 300; ++i) {
        ASSERT_EQ(IsFinite(decoded.value()[i]), i / 100 != 1) << i;
        ASSERT_EQ(IsFinite(sum[i]), i / 100 != 1) << i;
        if (i / 100 == 1) {
          ASSERT_EQ(BitsOf(decoded.value()[i]), BitsOf(kNaN));
        }
      }
    }
  }
}

TEST(Q8Test, AScaleOfAnotherRankThatIsNotFiniteDecodesToNan) {
  const float infinity = FloatOf(kInfinityBits);
  for (const Scale scale :
       {Scale{0, infinity}, Scale{0, -infinity}, Scale{infinity, 1}, Scale{0, kNaN}, Scale{-kNaN, 1}}) {
    auto bytes = Encoded({0, 1, 2}, {8, 512}, {});
    StoreBytes(BitsOf(scale.min), 4, bytes.data());
    StoreBytes(BitsOf(scale.step), 4, bytes.data() + 4);
    Floats decoded(3);
    ASSERT_TRUE(Decode(bytes.data(), bytes.size(), 3, {8, 512}, decoded.data()));
    EXPECT_EQ(AllBits(decoded), AllBits({kNaN, kNaN, kNaN}));
  }
}

// This is the control: fmin() and fmax() leave NaN out, so that it decodes to a number.
TEST(Q8Test, BoundsThatLeaveNanOutLoseIt) {
  const auto scale_of = [](const Floats& values) {
    float least = values[0], greatest = values[0];
    for (const float value : values) {
      least = std::fmin(least, value);
      greatest = std::fmax(greatest, value);
    }
    return Scale{least, (greatest - least) / 255};
  };
  Floats values = Gaussian(100, 9);
  values[50] = kNaN;
  const Floats decoded = RoundTripWith(values, 8, scale_of, [](std::size_t) { return 0.5f; });
  EXPECT_TRUE(std::ranges::all_of(decoded, IsFinite));
}

TEST(Q8Test, ARangeThatNoFloatHoldsIsNanAndTheLargestThatOneHoldsIsNot) {
  EXPECT_TRUE(IsNaN(RoundTrip({-kLargest, 0, kLargest}, {}, {}).value()[1]));
  const Floats values = {0, kLargest / 2, kLargest};
  for (unsigned bits = 1; bits <= kMostBits; ++bits) {
    const Floats decoded = RoundTrip(values, {bits, 512}, {}).value();
    // Either all are numbers, or the highest level would not be one and all are NaN.
    const auto finite = std::ranges::count_if(decoded, IsFinite);
    EXPECT_TRUE(finite == 0 || finite == 3) << bits;
  }
  EXPECT_TRUE(std::ranges::all_of(RoundTrip({0, kLargest * 0.999f}, {}, {}).value(), IsFinite));
}

TEST(Q8Test, BoundsDoNotDependOnTheOrder) {
  Floats values = {3, -0.0f, 0.0f, -1, 5e-39f, 2};
  std::ranges::sort(values, {}, BitsOf);
  const Scale scale = ScaleOfValues(values, 8);
  do {
    Bounds left, right;
    for (std::size_t i = 0; i < values.size(); ++i) (i % 2 == 0 ? left : right).Include(values[i]);
    right.Include(left);
    const Scale other = ScaleOf(right, 8);
    ASSERT_EQ(BitsOf(other.min), BitsOf(scale.min));
    ASSERT_EQ(BitsOf(other.step), BitsOf(scale.step));
  } while (std::ranges::next_permutation(values, {}, BitsOf).found);
  for (const Floats& zeros : {Floats{0.0f, -0.0f}, Floats{-0.0f, 0.0f}})
    EXPECT_EQ(BitsOf(ScaleOfValues(zeros, 8).min), 0u);
}

TEST(Q8Test, AChunkHasTheNumbersThatItHasInTheWhole) {
  const Floats values = Gaussian(2000, 1);
  const Format format{4, 100};
  const Floats whole = RoundTrip(values, format, {1, 2, 0}).value();
  const Floats chunk = RoundTrip({values.begin() + 700, values.end()}, format, {1, 2, 700}).value();
  EXPECT_EQ(AllBits({whole.begin() + 700, whole.end()}), AllBits(chunk));
  EXPECT_NE(AllBits(RoundTrip(values, format, {1, 3, 0}).value()), AllBits(whole));
  EXPECT_NE(AllBits(RoundTrip(values, format, {2, 2, 0}).value()), AllBits(whole));
}

constexpr bool WorksAtCompileTime() {
  const float values[] = {-1, 0, 0.25f, 1};
  uint8_t bytes[EncodedBytes(4, 8, 512)] = {};
  float decoded[4] = {};
  return Encode(values, 4, {}, {}, bytes, sizeof bytes) && Decode(bytes, sizeof bytes, 4, {}, decoded) &&
         decoded[0] == -1;
}
static_assert(WorksAtCompileTime());

}  // namespace
}  // namespace crossover::shrink
