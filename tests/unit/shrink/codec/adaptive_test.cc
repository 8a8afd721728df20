#include "shrink/codec/adaptive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

using Chunks = std::vector<ChunkStatistics>;

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// Returns `count` chunks whose sizes and errors differ by up to three powers of ten.
Chunks Drawn(std::mt19937_64& random, std::size_t count) {
  std::uniform_real_distribution<double> power(0, 3);
  Chunks chunks(count);
  for (ChunkStatistics& chunk : chunks) {
    chunk.count = static_cast<std::size_t>(100 * std::pow(10, power(random)));
    chunk.one_bit_error = static_cast<double>(chunk.count) * std::pow(10, power(random) - 3);
  }
  return chunks;
}

// Returns the fewest bytes within the budget, by trying all choices, or kNever.
std::uint64_t FewestBytes(const Chunks& chunks, const AdaptiveRule& rule, double budget) {
  std::uint64_t fewest = kNever;
  ChunkBits bits(chunks.size(), static_cast<std::uint8_t>(rule.least_bits));
  while (true) {
    if (IsWithin(chunks, bits, budget)) fewest = std::min(fewest, BytesOf(chunks, bits, rule));
    std::size_t i = 0;
    while (i < bits.size() && bits[i] == rule.most_bits)
      bits[i++] = static_cast<std::uint8_t>(rule.least_bits);
    if (i == bits.size()) return fewest;
    ++bits[i];
  }
}

TEST(AdaptiveTest, TheKnapsackIsTheBestChoiceUpToItsParts) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    AdaptiveRule rule;
    rule.uniform_bits = 3 + static_cast<unsigned>(random() % 3);
    rule.alpha = round % 3 == 0 ? 1 : 0.3 + 0.01 * static_cast<double>(random() % 200);
    const Chunks chunks = Drawn(random, 1 + random() % 4);
    const double budget = BudgetOf(chunks, rule);
    const auto bits = ChooseByKnapsack(chunks, rule);
    const double lost = static_cast<double>(chunks.size()) / static_cast<double>(rule.parts);
    const std::uint64_t best = FewestBytes(chunks, rule, budget),
                        nearly = FewestBytes(chunks, rule, budget * (1 - lost));
    ASSERT_TRUE(bits) << round;
    EXPECT_TRUE(IsWithin(chunks, *bits, budget)) << round;
    EXPECT_GE(BytesOf(chunks, *bits, rule), best) << round;
    EXPECT_LE(BytesOf(chunks, *bits, rule), nearly) << round;
  }
}

TEST(AdaptiveTest, TheGreedyChoiceIsOftenTheBestAndNeverFarFromIt) {
  std::mt19937_64 random(2);
  constexpr int kRounds = 300;
  int best = 0, knapsack_best = 0;
  double worst = 0, sum = 0, knapsack_worst = 0;
  for (int round = 0; round < kRounds; ++round) {
    AdaptiveRule rule{.least_bits = 2, .most_bits = 7};
    const Chunks chunks = Drawn(random, 6);
    const auto bits = ChooseGreedily(chunks, rule);
    ASSERT_TRUE(bits);
    EXPECT_TRUE(IsWithin(chunks, *bits, BudgetOf(chunks, rule)));
    const std::uint64_t fewest = FewestBytes(chunks, rule, BudgetOf(chunks, rule));
    const auto more = [&](const ChunkBits& found) {
      return static_cast<double>(BytesOf(chunks, found, rule)) / static_cast<double>(fewest) - 1;
    };
    ASSERT_GE(more(*bits), 0);
    best += more(*bits) == 0;
    worst = std::max(worst, more(*bits));
    sum += more(*bits);
    const double of_knapsack = more(ChooseByKnapsack(chunks, rule).value());
    knapsack_best += of_knapsack == 0;
    knapsack_worst = std::max(knapsack_worst, of_knapsack);
    EXPECT_LE(BytesOf(chunks, ChooseBits(chunks, rule).value(), rule), BytesOf(chunks, *bits, rule));
  }
  RecordProperty("greedy_best_of_300", best);
  RecordProperty("greedy_worst_percent", std::to_string(worst * 100));
  RecordProperty("greedy_mean_percent", std::to_string(sum / kRounds * 100));
  RecordProperty("knapsack_best_of_300", knapsack_best);
  RecordProperty("knapsack_worst_percent", std::to_string(knapsack_worst * 100));
  EXPECT_GE(best, kRounds / 2);
  EXPECT_LT(worst, 0.25);
}

TEST(AdaptiveTest, TheGapOfTheGreedyChoiceFallsWithTheNumberOfChunks) {
  std::mt19937_64 random(3);
  double worst = 0;
  for (int round = 0; round < 20; ++round) {
    const Chunks chunks = Drawn(random, 100);
    const AdaptiveRule rule;
    const auto greedy = static_cast<double>(BytesOf(chunks, ChooseGreedily(chunks, rule).value(), rule));
    const auto knapsack = static_cast<double>(BytesOf(chunks, ChooseByKnapsack(chunks, rule).value(), rule));
    worst = std::max(worst, greedy / knapsack - 1);
  }
  RecordProperty("greedy_worst_percent_of_100_chunks", std::to_string(worst * 100));
  EXPECT_LT(worst, 0.02);
}

TEST(AdaptiveTest, NeverMoreBytesThanUniformBitsAndFewerWhereChunksDiffer) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 50; ++round) {
    const Chunks chunks = Drawn(random, 20);
    const AdaptiveRule rule;
    EXPECT_LT(BytesOf(chunks, ChooseBits(chunks, rule).value(), rule),
              BytesOf(chunks, ChunkBits(20, 4), rule));
  }
  // Equal chunks get equal bits. The knapsack rounds each of their errors up, and would not find that.
  const Chunks equal(30'000, {1000, 5.0});
  const AdaptiveRule rule{.parts = 100};
  EXPECT_EQ(ChooseByKnapsack(equal, rule), std::nullopt);
  EXPECT_EQ(BytesOf(equal, ChooseBits(equal, rule).value(), rule),
            BytesOf(equal, ChunkBits(equal.size(), 4), rule));
}

TEST(AdaptiveTest, ChunksWithoutErrorGetTheFewestBits) {
  const Chunks chunks = {{1000, 0}, {1000, 3}, {0, 0}};
  const AdaptiveRule rule;
  for (const auto& bits : {ChooseByKnapsack(chunks, rule), ChooseGreedily(chunks, rule)}) {
    ASSERT_TRUE(bits);
    EXPECT_EQ((*bits)[0], 2);
    EXPECT_EQ((*bits)[1], 4);
    EXPECT_EQ((*bits)[2], 2);
  }
  EXPECT_EQ(ChooseBits(Chunks(3, {10, 0}), rule), ChunkBits(3, 2));
  EXPECT_EQ(ChooseBits({}, rule), ChunkBits());
}

TEST(AdaptiveTest, WhatCannotBeOrIsNotValidIsRefused) {
  const Chunks chunks = {{1000, 3}};
  const auto refused = [&](const Chunks& these, const AdaptiveRule& rule) {
    return !ChooseByKnapsack(these, rule) && !ChooseGreedily(these, rule) && !ChooseBits(these, rule);
  };
  EXPECT_TRUE(refused(chunks, {.alpha = 1e-6}));  // 8 bits have more error
  EXPECT_FALSE(refused(chunks, {.alpha = 0.01}));
  EXPECT_TRUE(refused(chunks, {.alpha = 0}));
  EXPECT_TRUE(refused(chunks, {.alpha = std::numeric_limits<double>::infinity()}));
  EXPECT_TRUE(refused(chunks, {.bucket = 0}));
  EXPECT_TRUE(refused(chunks, {.least_bits = 0}));
  EXPECT_TRUE(refused(chunks, {.least_bits = 5, .most_bits = 4}));
  EXPECT_TRUE(refused(chunks, {.most_bits = 9}));
  EXPECT_TRUE(refused(chunks, {.uniform_bits = 9}));
  EXPECT_TRUE(refused(chunks, {.parts = 0}));
  EXPECT_TRUE(refused({{1000, std::numeric_limits<double>::quiet_NaN()}}, {}));
  EXPECT_TRUE(refused({{1000, -1}}, {}));
}

TEST(AdaptiveTest, TheStatisticsPredictTheError) {
  // The codec is given the chosen bits, and has the error that the statistics promise.
  std::vector<Floats> values;
  Chunks chunks;
  for (std::size_t i = 0; i < 8; ++i) {
    values.push_back(Gaussian(40'000 + 7 * i, i));
    for (float& value : values.back()) value = std::ldexp(value, static_cast<int>(i));
    chunks.push_back(StatisticsOf(values[i].data(), values[i].size(), 512));
  }
  const AdaptiveRule rule;
  const ChunkBits bits = ChooseBits(chunks, rule).value();
  EXPECT_TRUE(std::ranges::is_sorted(bits));
  double error = 0, uniform = 0, predicted = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += SquaredError(RoundTrip(values[i], {bits[i], 512}, {1, i, 0}).value(), values[i]);
    uniform += SquaredError(RoundTrip(values[i], {4, 512}, {1, i, 0}).value(), values[i]);
    predicted += ExpectedError(chunks[i], bits[i]);
  }
  const auto bytes = static_cast<double>(BytesOf(chunks, bits, rule));
  RecordProperty("bytes_of_uniform_percent",
                 std::to_string(100 * bytes / static_cast<double>(BytesOf(chunks, ChunkBits(8, 4), rule))));
  RecordProperty("error_of_uniform", std::to_string(error / uniform));
  EXPECT_NEAR(error / predicted, 1, 0.1);
  EXPECT_LT(error, uniform * 1.1);
}

TEST(AdaptiveTest, BucketsThatAreNotFiniteAddNoError) {
  Floats values = Gaussian(1024, 1);
  const double both = StatisticsOf(values.data(), 1024, 512).one_bit_error;
  const double first = StatisticsOf(values.data(), 512, 512).one_bit_error;
  values[700] = kNaN;
  EXPECT_EQ(StatisticsOf(values.data(), 1024, 512).one_bit_error, first);
  EXPECT_GT(both, first);
  EXPECT_EQ(StatisticsOf(values.data(), 0, 512).one_bit_error, 0);
}

}  // namespace
}  // namespace crossover::shrink
