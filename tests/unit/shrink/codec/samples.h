// Makes values for tests of the codecs, from seeds, and measures errors.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "shrink/codec/q8.h"

namespace crossover::shrink {

using Floats = std::vector<float>;

// Returns `count` values with the standard normal distribution.
inline Floats Gaussian(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Floats values(count);
  for (float& value : values) value = static_cast<float>(normal(random));
  return values;
}

// Returns `count` values with the Laplace distribution.
inline Floats Laplace(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> exponential;
  Floats values(count);
  for (float& value : values) value = static_cast<float>(exponential(random) - exponential(random));
  return values;
}

// Returns Gaussian values for each rank.
inline std::vector<Floats> GaussianOfRanks(std::size_t ranks, std::size_t count) {
  std::vector<Floats> buffers;
  for (std::size_t rank = 0; rank < ranks; ++rank) buffers.push_back(Gaussian(count, rank + 1));
  return buffers;
}

// Returns the sum of the buffers, which is rounded once.
inline Floats ExactSum(const std::vector<Floats>& buffers) {
  std::vector<double> sum(buffers[0].size(), 0);
  for (const Floats& buffer : buffers)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += buffer[i];
  return {sum.begin(), sum.end()};
}

// Returns sum (a - b)^2.
inline double SquaredError(const Floats& a, const Floats& b) {
  double error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) error += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return error;
}

// Returns the squared error of `found`, as a part of the square of `exact`.
inline double RelativeError(const Floats& found, const Floats& exact) {
  return SquaredError(found, exact) / SquaredError(exact, Floats(exact.size(), 0));
}

inline std::vector<std::uint8_t> Encoded(const Floats& values, const Format& format, const Draw& draw) {
  std::vector<std::uint8_t> bytes(EncodedBytes(values.size(), format.bits, format.bucket));
  if (!Encode(values.data(), values.size(), format, draw, bytes.data(), bytes.size())) bytes.clear();
  return bytes;
}

// Returns what values become by encoding and decoding, or nothing where one of the two refuses.
inline std::optional<Floats> RoundTrip(const Floats& values, const Format& format, const Draw& draw) {
  const auto bytes = Encoded(values, format, draw);
  Floats result(values.size());
  if (!Decode(bytes.data(), bytes.size(), result.size(), format, result.data())) return std::nullopt;
  return result;
}

// Returns the bits of each value. Comparing these distinguishes zeros, and finds NaN equal to itself.
inline std::vector<std::uint32_t> AllBits(const Floats& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(BitsOf(value));
  return bits;
}

// Encodes and decodes one bucket in a way that is known to be bad. `scale` and `t` replace what the codec
// takes.
template <class ScaleOfBucket, class UniformOfElement>
Floats RoundTripWith(const Floats& values, unsigned bits, ScaleOfBucket scale_of, UniformOfElement t) {
  const Scale scale = scale_of(values);
  Floats result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result.push_back(ValueOf(LevelOf(values[i], scale, bits, t(i)), scale));
  return result;
}

inline Scale ScaleOfValues(const Floats& values, unsigned bits) {
  Bounds bounds;
  for (const float value : values) bounds.Include(value);
  return ScaleOf(bounds, bits);
}

}  // namespace crossover::shrink
