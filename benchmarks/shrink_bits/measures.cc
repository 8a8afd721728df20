#include "benchmarks/shrink_bits/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink_bits {
namespace {

using shrink::BitsOf;
using shrink::FloatOf;
using shrink::Gaussian;
using shrink::kNaN;
using shrink::Laplace;
using shrink::RelativeError;
using shrink::SquaredError;

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSubnormal = std::numeric_limits<float>::denorm_min();

// Returns how many elements of two arrays differ in any bit. REQUIRES: they have one length.
double Differing(const Floats& a, const Floats& b) {
  double count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += BitsOf(a[i]) == BitsOf(b[i]) ? 0 : 1;
  return count;
}

double StepOf(const Floats& values, unsigned bits) { return shrink::ScaleOfValues(values, bits).step; }

Floats Scaled(Floats values, int exponent) {
  for (float& value : values) value = std::ldexp(value, exponent);
  return values;
}

// Returns values with zeros of both signs, subnormal numbers, a constant bucket and one that is not finite.
Floats Mixed(std::size_t count) {
  Floats values = Gaussian(count, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i / shrink::kQ8.bucket == 1) values[i] = i % 3 == 0 ? -0.0F : 0.0F;
    if (i / shrink::kQ8.bucket == 2) values[i] = std::ldexp(values[i], -140);
    if (i / shrink::kQ8.bucket == 3) values[i] = 7;
    if (i == 4 * shrink::kQ8.bucket + 5) values[i] = kNaN;
  }
  return values;
}

// Counts the elements of one bucket that are farther from their value than a step.
double BeyondStepOfBucket(const Floats& values, const Floats& decoded, std::size_t begin,
                          const Format& format) {
  const std::size_t end = std::min<std::size_t>(values.size(), begin + format.bucket);
  const double step = StepOf({values.data() + begin, values.data() + end}, format.bits);
  double count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double allowed = step * 1.0001 + std::abs(values[i]) * 1e-6;
    count += std::abs(decoded[i] - values[i]) <= allowed ? 0 : 1;
  }
  return count;
}

}  // namespace

double Bias(Codec codec) {
  constexpr int kEncodings = 2000;
  const Floats values = Gaussian(512, 1);
  double largest = 0;
  for (const unsigned bits : {1U, 2U, 4U, 8U}) {
    std::vector<double> sum(values.size(), 0);
    for (std::uint64_t call = 0; call < kEncodings; ++call) {
      const Floats once = codec(values, {bits, 512}, {7, call, 0});
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += once[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i)
      largest = std::max(largest, std::abs(sum[i] / kEncodings - values[i]) / StepOf(values, bits));
  }
  return largest;
}

double OffTable(Codec codec) {
  struct Row {
    Format format;
    double gaussian, laplace;
  };
  constexpr Row kRows[] = {{{4, 128}, 0.019, 0.034},
                           {{4, 1024}, 0.032, 0.068},
                           {{8, 128}, 7e-5, 1.2e-4},
                           {{8, 1024}, 1.1e-4, 2.4e-4}};
  const Floats gaussian = Gaussian(1 << 17, 11), laplace = Laplace(1 << 17, 12);
  double largest = 0;
  for (const Row& row : kRows) {
    const double of_gaussian = RelativeError(codec(gaussian, row.format, {1, 1, 0}), gaussian);
    const double of_laplace = RelativeError(codec(laplace, row.format, {1, 1, 0}), laplace);
    largest =
        std::max({largest, std::abs(of_gaussian / row.gaussian - 1), std::abs(of_laplace / row.laplace - 1)});
  }
  return largest;
}

double OverBound(Codec codec) {
  constexpr std::size_t kBucket = 512;
  constexpr int kEncodings = 400;
  // All values but the ends lie in the middle between two levels, which is the worst case.
  Floats worst(kBucket, 0.5F);
  for (std::size_t i = 0; i < kBucket; ++i) worst[i] += static_cast<float>(i % 15);
  worst[0] = 0;
  worst[1] = 15;
  double largest = 0;
  for (const Floats& values : {worst, Gaussian(kBucket, 5), Laplace(kBucket, 6)}) {
    double mean = 0;
    for (std::uint64_t call = 0; call < kEncodings; ++call)
      mean += SquaredError(codec(values, {4, kBucket}, {2, call, 0}), values) / kEncodings;
    largest = std::max(largest, mean / (kBucket * std::pow(StepOf(values, 4), 2) / 4));
  }
  return largest;
}

double OffSixth(Codec codec) {
  Floats values(1 << 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 1.618034e-5F;
  double largest = 0;
  for (const unsigned bits : {2U, 4U, 8U}) {
    const double error = SquaredError(codec(values, {bits, shrink::kMostBucket}, {4, 5, 0}), values);
    const double squared = std::pow(StepOf(values, bits), 2);
    largest = std::max(largest, std::abs(error / static_cast<double>(values.size()) / squared * 6 - 1));
  }
  return largest;
}

double BesideOutlier(Codec codec) {
  constexpr std::size_t kOutlier = 30'000;
  Floats values = Gaussian(shrink::kMostBucket, 3);
  values[kOutlier] = 1000;
  Floats decoded = codec(values, {8, 512}, {});
  values[kOutlier] = decoded[kOutlier] = 0;
  return RelativeError(decoded, values);
}

double Unscaled(Codec codec) {
  const Floats values = Laplace(2000, 8);
  double count = 0;
  for (const unsigned bits : {1U, 3U, 4U, 8U}) {
    const Format format{bits, 512};
    const Floats decoded = codec(values, format, {1, 2, 0});
    for (const int exponent : {-90, -60, -24, -1, 1, 30, 100})
      count += Differing(codec(Scaled(values, exponent), format, {1, 2, 0}), Scaled(decoded, exponent));
  }
  return count;
}

double FiniteAmiss(Codec codec) {
  const float infinity = FloatOf(shrink::kInfinityBits);
  double count = 0;
  for (const float bad : {kNaN, -kNaN, infinity, -infinity, FloatOf(0x7f800001)}) {
    for (const std::size_t place : {0U, 7U, 99U}) {
      Floats values = Gaussian(300, 9);
      values[100 + place] = bad;
      const Floats decoded = codec(values, {8, 100}, {});
      for (std::size_t i = 0; i < decoded.size(); ++i)
        count += shrink::IsFinite(decoded[i]) == (i / 100 != 1) ? 0 : 1;
    }
  }
  return count;
}

double ConstantChanged(Codec codec) {
  double count = 0;
  for (unsigned bits = 1; bits <= shrink::kMostBits; ++bits) {
    for (const float value : {0.0F, 1.0F, -3.3F, kSubnormal, -kSubnormal, kLargest, -kLargest, 1e-30F}) {
      const Floats values(777, value);
      count += Differing(codec(values, {bits, 100}, {3, 4, 0}), values);
    }
  }
  for (const float unit : {kSubnormal, -kSubnormal}) {
    const Floats values = {0, unit, 3 * unit, 50 * unit, 100 * unit};
    count += Differing(codec(values, {8, 512}, {3, 4, 0}), values);
  }
  return count;
}

double BeyondStep(Codec codec) {
  double count = 0;
  for (const std::size_t size :
       {0U, 1U, 2U, 7U, 8U, 9U, 15U, 17U, 99U, 100U, 101U, 511U, 512U, 513U, 1023U, 1024U, 1025U, 4099U}) {
    for (unsigned bits = 1; bits <= shrink::kMostBits; ++bits) {
      for (const unsigned bucket : {1U, 3U, 8U, 100U, 512U, shrink::kMostBucket}) {
        const Floats values = Gaussian(size, size + 2);
        const Floats decoded = codec(values, {bits, bucket}, {1, 2, 0});
        for (std::size_t begin = 0; begin < size; begin += bucket)
          count += BeyondStepOfBucket(values, decoded, begin, {bits, bucket});
      }
    }
  }
  return count;
}

double OtherBits(Codec codec) {
  double count = 0;
  for (const std::size_t size : {1U, 31U, 32U, 33U, 511U, 512U, 513U, 1024U, 4095U, 4097U, 70'001U}) {
    const Floats values = Mixed(size);
    const Draw draw{3, 4, 1'024};
    count += Differing(codec(values, shrink::kQ8, draw), Shipped(values, shrink::kQ8, draw));
  }
  return count;
}

}  // namespace crossover::shrink_bits
