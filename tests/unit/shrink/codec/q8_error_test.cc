// Tests the error of the codec: its bias, its size and how it scales, each with a codec that is known to be
// bad.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "shrink/codec/q8.h"
#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

constexpr int kEncodings = 2000;
constexpr float kEpsilon = 1e-10f;
const double kFourSigma = 4 * 0.5 / std::sqrt(kEncodings);  // of the mean of so many levels, at most: 0.045

double Recorded(const char* name, double value) {
  ::testing::Test::RecordProperty(name, (std::to_string(value * 1e6) + "e-6"));
  return value;
}

// Returns the largest difference, in steps, between a value and the mean of its encodings. `decoded` encodes
// and decodes the values for the call that it gets.
template <class Decoded>
double LargestBias(const Floats& values, float step, Decoded decoded) {
  std::vector<double> sum(values.size(), 0);
  for (int call = 0; call < kEncodings; ++call) {
    const Floats once = decoded(static_cast<std::uint64_t>(call));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += once[i];
  }
  double largest = 0;
  for (std::size_t i = 0; i < sum.size(); ++i)
    largest = std::max(largest, std::abs(sum[i] / kEncodings - values[i]) / step);
  return largest;
}

TEST(Q8ErrorTest, TheMeanOfManyEncodingsIsTheValue) {
  const Floats values = Gaussian(512, 1);
  for (const unsigned bits : {1u, 2u, 4u, 8u}) {
    const float step = ScaleOfValues(values, bits).step;
    const double bias = LargestBias(values, step, [&](std::uint64_t call) {
      return RoundTrip(values, {bits, 512}, {7, call, 0}).value();
    });
    EXPECT_LT(Recorded(("bias_" + std::to_string(bits)).c_str(), bias), kFourSigma);
  }
}

// These are the controls: rounding to the nearest, and numbers that are the same in each call.
TEST(Q8ErrorTest, DeterministicRoundingIsBiased) {
  const Floats values = Gaussian(512, 1);
  const auto scale_of = [](const Floats& all) { return ScaleOfValues(all, 8); };
  const float step = scale_of(values).step;
  const double nearest = LargestBias(values, step, [&](std::uint64_t) {
    return RoundTripWith(values, 8, scale_of, [](std::size_t) { return 0.5f; });
  });
  EXPECT_GT(Recorded("bias_nearest", nearest), 10 * kFourSigma);
  const double same = LargestBias(values, step, [&](std::uint64_t) {
    return RoundTrip(values, {}, {7, 0, 0}).value();
  });
  EXPECT_GT(Recorded("bias_same_numbers", same), 10 * kFourSigma);
}

// Values on the grid are exact: a sum of quotient and random number that is rounded would move some of them.
TEST(Q8ErrorTest, ValuesOnTheGridStay) {
  Floats values(256);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 100;
  for (std::uint64_t call = 0; call < 2000; ++call)
    ASSERT_EQ(RoundTrip(values, {8, 256}, {1, call, 0}).value(), values) << call;
}

TEST(Q8ErrorTest, TheErrorOfABucketIsAtMostAQuarterOfASquaredStep) {
  constexpr std::size_t kBucket = 512;
  // All values but the ends lie in the middle between two levels, which is the worst case.
  Floats worst(kBucket, 0.5f);
  for (std::size_t i = 0; i < kBucket; ++i) worst[i] += static_cast<float>(i % 15);
  worst[0] = 0;
  worst[1] = 15;
  for (const Floats& values : {worst, Gaussian(kBucket, 5), Laplace(kBucket, 6)}) {
    const double step = ScaleOfValues(values, 4).step;
    const double squared = step * step;
    double mean = 0, largest = 0;
    for (std::uint64_t call = 0; call < 400; ++call) {
      const double error = SquaredError(RoundTrip(values, {4, kBucket}, {2, call, 0}).value(), values);
      mean += error / 400;
      largest = std::max(largest, error);
    }
    EXPECT_LE(mean, kBucket * squared / 4 * 1.0001);
    EXPECT_LE(largest, kBucket * squared);  // whatever the random numbers are
  }
}

TEST(Q8ErrorTest, TheExpectedErrorOfSmoothDataIsASixthOfASquaredStep) {
  Floats values(1 << 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 1.618034e-5f;
  for (const unsigned bits : {2u, 4u, 8u}) {
    const double step = ScaleOfValues(values, bits).step;
    const double error = SquaredError(RoundTrip(values, {bits, kMostBucket}, {4, 5, 0}).value(), values);
    const double part = error / static_cast<double>(values.size()) / (step * step);
    EXPECT_NEAR(Recorded(("smooth_" + std::to_string(bits)).c_str(), part), 1.0 / 6, 0.002);
  }
}

TEST(Q8ErrorTest, RelativeErrorsAreThoseOfTheTable) {
  struct Row {
    unsigned bits, bucket;
    double gaussian, laplace;
  };
  for (const Row& row : {Row{4, 128, 0.019, 0.034}, Row{4, 1024, 0.032, 0.068}, Row{8, 128, 7e-5, 1.2e-4},
                         Row{8, 1024, 1.1e-4, 2.4e-4}}) {
    const std::string name = std::to_string(row.bits) + "_" + std::to_string(row.bucket);
    const Format format{row.bits, row.bucket};
    const Floats gaussian = Gaussian(1 << 17, 11), laplace = Laplace(1 << 17, 12);
    const double of_gaussian = RelativeError(RoundTrip(gaussian, format, {1, 1, 0}).value(), gaussian);
    const double of_laplace = RelativeError(RoundTrip(laplace, format, {1, 1, 0}).value(), laplace);
    EXPECT_NEAR(Recorded(("gaussian_" + name).c_str(), of_gaussian), row.gaussian, row.gaussian * 0.1);
    EXPECT_NEAR(Recorded(("laplace_" + name).c_str(), of_laplace), row.laplace, row.laplace * 0.1);
  }
}

TEST(Q8ErrorTest, TwoBitsAreUseless) {
  const Floats gaussian = Gaussian(1 << 17, 11), laplace = Laplace(1 << 17, 12);
  for (const unsigned bucket : {128u, 1024u}) {
    const std::string name = std::to_string(bucket);
    const double of_gaussian = RelativeError(RoundTrip(gaussian, {2, bucket}, {}).value(), gaussian);
    const double of_laplace = RelativeError(RoundTrip(laplace, {2, bucket}, {}).value(), laplace);
    EXPECT_GT(Recorded(("two_gaussian_" + name).c_str(), of_gaussian), 0.4);
    EXPECT_GT(Recorded(("two_laplace_" + name).c_str(), of_laplace), 0.4);
  }
}

// This is the control: with one bucket for all, one outlier makes the step of all.
TEST(Q8ErrorTest, OneBucketWithAnOutlierLosesTheOthers) {
  constexpr std::size_t kOutlier = 30'000;
  Floats values = Gaussian(kMostBucket, 3);
  values[kOutlier] = 1000;
  const auto without_outlier = [&](unsigned bucket) {
    Floats exact = values, decoded = RoundTrip(values, {8, bucket}, {}).value();
    exact[kOutlier] = decoded[kOutlier] = 0;
    return RelativeError(decoded, exact);
  };
  const double buckets = Recorded("outlier_in_its_bucket", without_outlier(512));
  const double whole = Recorded("outlier_in_one_bucket", without_outlier(kMostBucket));
  EXPECT_LT(buckets, 0.03);
  EXPECT_GT(whole, 1);
}

TEST(Q8ErrorTest, AScaleByAPowerOfTwoIsExact) {
  const Floats values = Laplace(2000, 8);
  for (const unsigned bits : {1u, 3u, 4u, 8u}) {
    const Floats decoded = RoundTrip(values, {bits, 512}, {1, 2, 0}).value();
    for (const int exponent : {-90, -60, -24, -1, 1, 30, 100}) {
      Floats scaled = values, expected = decoded;
      for (float& value : scaled) value = std::ldexp(value, exponent);
      for (float& value : expected) value = std::ldexp(value, exponent);
      ASSERT_EQ(AllBits(RoundTrip(scaled, {bits, 512}, {1, 2, 0}).value()), AllBits(expected)) << exponent;
    }
  }
}

// This is the control: a smallest step of 1e-10, as some codecs have, loses small gradients.
TEST(Q8ErrorTest, AnAbsoluteEpsilonLosesSmallValues) {
  Floats values = Gaussian(512, 8);
  for (float& value : values) value = std::ldexp(value, -60);
  const auto scale_of = [](const Floats& all) {
    const Scale scale = ScaleOfValues(all, 8);
    return Scale{scale.min, std::max(scale.step, kEpsilon)};
  };
  const double good = RelativeError(RoundTrip(values, {}, {}).value(), values);
  const Floats decoded = RoundTripWith(values, 8, scale_of, [](std::size_t) { return 0.5f; });
  EXPECT_LT(Recorded("small_values", good), 2e-4);
  EXPECT_GT(Recorded("small_values_epsilon", RelativeError(decoded, values)), 1);
  EXPECT_TRUE(std::ranges::all_of(decoded, [&](float value) { return value == decoded[0]; }));
}

}  // namespace
}  // namespace crossover::shrink
