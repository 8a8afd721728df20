// Tests what the threads of a GPU measure, on the host, against the codec's own functions for whole buffers.
#include "shrink/kernels/error_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

constexpr float kEndless = std::numeric_limits<float>::infinity();
constexpr std::size_t kMeasuredSizes[] = {1, 31, 32, 33, 511, 512, 513, 1024, 4095, 4097, 70'001, 300'007};
const Draw kMeasuredDraw{3, 4, 0};

ErrorSums Measured(const Floats& values, const Draw& draw = kMeasuredDraw) {
  const auto parts = std::make_unique<ErrorPart[]>(kErrorBlocks);
  MeasureOnHost(ErrorWork{values.data(), values.size(), KeyOf(draw)}, parts.get());
  ErrorSums sums{};
  for (unsigned block = 0; block < kErrorBlocks; ++block) Add(parts[block].sums, sums);
  return sums;
}

bool IsWhole(const Floats& values, const Floats& decoded, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!IsFinite(values[i]) || IsNaN(decoded[i])) return false;
  }
  return true;
}

// Returns the sums by the codec, in the order of elements.
ErrorSums ByTheCodec(const Floats& values, const Draw& draw = kMeasuredDraw) {
  const Floats decoded = RoundTrip(values, kQ8, draw).value();
  Floats rounded(values.size());
  std::vector<std::uint16_t> narrow(values.size());
  Narrow(values.data(), values.size(), narrow.data());
  Widen(narrow.data(), narrow.size(), rounded.data());
  ErrorSums sums{};
  for (std::size_t begin = 0; begin < values.size(); begin += kQ8.bucket) {
    const std::size_t end = std::min<std::size_t>(begin + kQ8.bucket, values.size());
    if (!IsWhole(values, decoded, begin, end)) {
      ++sums.not_finite;
      continue;
    }
    const auto part = [&](const Floats& all) {
      return Floats(all.begin() + static_cast<std::ptrdiff_t>(begin),
                    all.begin() + static_cast<std::ptrdiff_t>(end));
    };
    sums.bf16 += SquaredError(part(rounded), part(values));
    sums.q8 += SquaredError(part(decoded), part(values));
    sums.squares += SquaredError(part(values), Floats(end - begin, 0));
  }
  return sums;
}

// The sums are the same but for their order, so they differ by a few units of the last place of a double.
void ExpectNear(double got, double expected) { EXPECT_NEAR(got, expected, expected * 1e-12); }

void ExpectTheCodec(const Floats& values) {
  const ErrorSums got = Measured(values), expected = ByTheCodec(values);
  ExpectNear(got.bf16, expected.bf16);
  ExpectNear(got.q8, expected.q8);
  ExpectNear(got.squares, expected.squares);
  EXPECT_EQ(got.not_finite, expected.not_finite);
}

TEST(ErrorThreadsTest, TheErrorsAreThoseOfTheCodec) {
  for (const std::size_t count : kMeasuredSizes) {
    SCOPED_TRACE(count);
    ExpectTheCodec(Gaussian(count, count));
    ExpectTheCodec(Laplace(count, count));
  }
}

// Sums of whole numbers are exact in any order, so these are equal bit for bit.
TEST(ErrorThreadsTest, SumsThatAreExactAreEqualBitForBit) {
  for (const std::size_t count : kMeasuredSizes) {
    Floats values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(1024 * (i % 7) + (i % 512 == 0 ? 0 : i % 256));
    const ErrorSums got = Measured(values), expected = ByTheCodec(values);
    EXPECT_EQ(got.squares, expected.squares);
    EXPECT_EQ(got.bf16, expected.bf16);
    EXPECT_EQ(expected.bf16 > 0, count > 1) << count;
  }
}

TEST(ErrorThreadsTest, BucketsThatAreNotFiniteAreCountedAndLeftOut) {
  for (const float odd : {kEndless, -kEndless, std::numeric_limits<float>::quiet_NaN()}) {
    Floats values = Gaussian(5'000, 1);
    for (const std::size_t place : {0u, 511u, 513u, 4'999u}) values[place] = odd;
    EXPECT_EQ(Measured(values).not_finite, 3U);
    ExpectTheCodec(values);
  }
  Floats wide = Gaussian(1'024, 2);  // is finite, and its range is not
  wide[0] = std::numeric_limits<float>::max();
  wide[1] = -std::numeric_limits<float>::max();
  EXPECT_EQ(Measured(wide).not_finite, 1U);
  ExpectTheCodec(wide);
}

TEST(ErrorThreadsTest, WhatBecomesInfiniteInBf16HasAnInfiniteError) {
  Floats values(512, 1);
  values[7] = std::numeric_limits<float>::max();
  EXPECT_EQ(Measured(values).bf16, static_cast<double>(kEndless));
  EXPECT_LT(Measured(values).q8, static_cast<double>(kEndless));
}

TEST(ErrorThreadsTest, ConstantBucketsHaveNoErrorWith8Bits) {
  const ErrorSums constant = Measured(Floats(1'000, 0.1F));
  EXPECT_EQ(constant.q8, 0);
  EXPECT_GT(constant.bf16, 0);
  ExpectTheCodec(Floats(1'000, 0.1F));
  const ErrorSums zero = Measured(Floats(1'000, -0.0F));
  EXPECT_EQ(zero.bf16 + zero.q8 + zero.squares, 0);
}

TEST(ErrorThreadsTest, SubnormalNumbersAreNotLost) {
  Floats values = Gaussian(2'000, 3);
  for (float& value : values) value *= 0x1p-130F;
  EXPECT_GT(Measured(values).squares, 0);
  ExpectTheCodec(values);
}

// Returns the expected squared error of one rounding to bf16 of a standard normal value: a twelfth of a
// squared step, which is 2^-7 of the power of two below the value.
double ExpectedOfBf16() {
  double squared_step = 0;
  for (int exponent = -40; exponent < 6; ++exponent) {
    const double between = std::erf(std::ldexp(1, exponent + 1) / std::sqrt(2.0)) -
                           std::erf(std::ldexp(1, exponent) / std::sqrt(2.0));
    squared_step += between * std::ldexp(1, 2 * exponent - 14);
  }
  return squared_step / 12;
}

// The table of record 0071 has 7e-5 for 128 elements of a bucket and 1.1e-4 for 1024, and 6e-6 for a sum of
// two ranks in bf16, in which each value is rounded and then the sum.
TEST(ErrorThreadsTest, GaussianValuesHaveTheErrorsOfTheRecord) {
  const ErrorSums sums = Measured(Gaussian(1 << 17, 11));
  EXPECT_GT(sums.q8 / sums.squares, 7e-5);
  EXPECT_LT(sums.q8 / sums.squares, 1.1e-4);
  EXPECT_NEAR(sums.bf16 / sums.squares, ExpectedOfBf16(), ExpectedOfBf16() * 0.03);
  EXPECT_NEAR(2 * ExpectedOfBf16(), 6e-6, 0.6e-6);
  RecordProperty("q8", std::to_string(1e6 * sums.q8 / sums.squares) + "e-6");
  RecordProperty("bf16", std::to_string(1e6 * sums.bf16 / sums.squares) + "e-6");
}

TEST(ErrorThreadsTest, OtherRandomNumbersAndACodecThatCutsAreSeen) {  // These are the controls.
  const Floats values = Gaussian(4'097, 1);
  const ErrorSums got = Measured(values);
  EXPECT_GT(std::abs(got.q8 / ByTheCodec(values, {3, 5, 0}).q8 - 1), 1e-6);
  Floats cut = values;
  for (float& value : cut) value = FloatOf(BitsOf(value) & 0xffff0000);
  EXPECT_GT(SquaredError(cut, values), 3 * got.bf16);
}

TEST(ErrorThreadsTest, TheBufferStaysAsItIs) {
  const Floats values = Gaussian(4'097, 1);
  const Floats before = values;
  Measured(values);
  EXPECT_EQ(AllBits(values), AllBits(before));
}

}  // namespace
}  // namespace crossover::shrink
