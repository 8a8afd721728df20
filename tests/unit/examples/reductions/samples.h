// Makes values for tests of reductions, runs all ranks on theirs, and compares.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "examples/reductions/threads.h"

namespace crossover::reductions {

// Calls work(rank, values of the rank) on a thread for each rank, and returns what has become of the values.
template <typename Work>
std::vector<Floats> RunAll(World& world, std::vector<Floats> values, Work work) {
  world.Run([&](ThreadRank& rank) { work(rank, std::span<float>(values[rank.groups.seat.rank])); });
  return values;
}

// Returns `count` values with the standard normal distribution for each rank.
inline std::vector<Floats> Gaussian(std::size_t ranks, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Floats> values(ranks, Floats(count));
  for (Floats& of : values) {
    for (float& value : of) value = static_cast<float>(normal(random));
  }
  return values;
}

// Returns the bits of each value: comparing these distinguishes zeros, and finds NaN equal to itself.
inline std::vector<std::uint32_t> AllBits(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(shrink::BitsOf(value));
  return bits;
}

// Returns whether all ranks have the same bits.
inline bool AreEqual(const std::vector<Floats>& values) {
  for (const Floats& of : values) {
    if (AllBits(of) != AllBits(values[0])) return false;
  }
  return true;
}

// Returns the sum over ranks, in double.
inline std::vector<double> SumOf(const std::vector<Floats>& values) {
  std::vector<double> sum(values[0].size(), 0);
  for (const Floats& of : values) {
    for (std::size_t i = 0; i < of.size(); ++i) sum[i] += of[i];
  }
  return sum;
}

// Returns |found - exact|^2 / |exact|^2.
inline double RelativeError(const Floats& found, const std::vector<double>& exact) {
  double error = 0, all = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += (found[i] - exact[i]) * (found[i] - exact[i]);
    all += exact[i] * exact[i];
  }
  return error / all;
}

}  // namespace crossover::reductions
