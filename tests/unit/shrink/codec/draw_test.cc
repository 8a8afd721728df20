#include "shrink/codec/draw.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace crossover::shrink {
namespace {

constexpr std::size_t kNumbers = 200'000;

using Numbers = std::vector<double>;

// Returns numbers in which only what `of` makes of the index changes.
template <class Of>
Numbers Series(Of of) {
  Numbers numbers;
  for (std::size_t i = 0; i < kNumbers; ++i) numbers.push_back(static_cast<double>(of(i)));
  return numbers;
}

float OfElement(std::uint64_t i) { return Uniform(KeyOf({1, 2, 0}), i); }
float OfCall(std::uint64_t i) { return Uniform(KeyOf({1, i, 0}), 5); }
float OfSeed(std::uint64_t i) { return Uniform(KeyOf({i, 2, 0}), 5); }

// Returns the correlation of two series, in standard deviations of that of independent ones.
double Correlation(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - 0.5) * (b[i] - 0.5);
  return sum * 12 / std::sqrt(static_cast<double>(a.size()));
}

// Returns chi-square of 256 equal parts of [0, 1), in standard deviations from its mean.
double Unevenness(const Numbers& numbers) {
  std::array<double, 256> counts{};
  for (const double number : numbers) counts[static_cast<std::size_t>(number * 256)] += 1;
  const double expected = static_cast<double>(numbers.size()) / 256;
  double chi_square = 0;
  for (const double count : counts) chi_square += (count - expected) * (count - expected) / expected;
  return (chi_square - 255) / std::sqrt(2 * 255.0);
}

TEST(DrawTest, NumbersAreUniformWhicheverCounterChanges) {
  for (const Numbers& numbers : {Series(OfElement), Series(OfCall), Series(OfSeed)}) {
    EXPECT_LT(std::abs(Unevenness(numbers)), 4);
    for (const double number : numbers) {
      ASSERT_GE(number, 0);
      ASSERT_LT(number, 1);
      ASSERT_EQ(number * 0x1p24, std::floor(number * 0x1p24));
    }
  }
}

TEST(DrawTest, NumbersOfNeighboursAreIndependent) {
  const Numbers elements = Series(OfElement), calls = Series(OfCall), seeds = Series(OfSeed);
  const auto next = [](const Numbers& numbers) {
    Numbers result(numbers.begin() + 1, numbers.end());
    result.push_back(numbers[0]);
    return result;
  };
  for (const Numbers* numbers : {&elements, &calls, &seeds})
    EXPECT_LT(std::abs(Correlation(*numbers, next(*numbers))), 4);
  EXPECT_LT(std::abs(Correlation(elements, calls)), 4);
  EXPECT_LT(std::abs(Correlation(calls, seeds)), 4);
  const Numbers next_call = Series([](std::uint64_t i) { return Uniform(KeyOf({1, 3, 0}), i); });
  const Numbers next_seed = Series([](std::uint64_t i) { return Uniform(KeyOf({2, 2, 0}), i); });
  EXPECT_LT(std::abs(Correlation(elements, next_call)), 4);
  EXPECT_LT(std::abs(Correlation(elements, next_seed)), 4);
}

// This is the control: a plain product of the counter is even, but neighbours depend on each other.
TEST(DrawTest, AProductWithoutMixingIsFoundOut) {
  const Numbers numbers =
      Series([](std::uint64_t i) { return static_cast<float>((i * kGolden) >> 40) * 0x1p-24f; });
  const Numbers next(numbers.begin() + 1, numbers.end());
  EXPECT_GT(std::abs(Correlation({numbers.begin(), numbers.end() - 1}, next)), 100);
}

// The first numbers of SplitMix64 from the state 0 are known. All ranks and machines have to draw the same.
TEST(DrawTest, NumbersAreThoseOfSplitMix64) {
  EXPECT_EQ(Mix(kGolden), 0xe220a8397b1dcdafu);
  EXPECT_EQ(Mix(2 * kGolden), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(Uniform(0, 0), static_cast<float>(0xe220a8) * 0x1p-24f);
  EXPECT_EQ(Uniform(0, 1), static_cast<float>(0x6e789e) * 0x1p-24f);
}

TEST(DrawTest, KeysOfSwappedOrNearCountersDiffer) {
  std::set<std::uint64_t> keys;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (std::uint64_t call = 0; call < 100; ++call) keys.insert(KeyOf({seed, call, 0}));
  EXPECT_EQ(keys.size(), 10'000u);
}

}  // namespace
}  // namespace crossover::shrink
