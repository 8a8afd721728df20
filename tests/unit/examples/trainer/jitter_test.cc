#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "examples/trainer/random.h"

namespace crossover::trainer {
namespace {

// A job of n ranks waits for the largest of n draws, which lies e_n deviations above the mean. Draws beyond
// three deviations are cut, which takes at most 0.03 off.
TEST(JitterTest, TheSlowestOfSeveralRanksIsAsLateAsThatOfNormalDraws) {
  const std::pair<std::uint32_t, double> cases[] = {{2, 0.56419}, {4, 1.02938}, {8, 1.42360}};
  constexpr std::uint64_t kIterations = 40'000;
  for (const auto& [ranks, expected] : cases) {
    double sum = 0;
    for (std::uint64_t i = 0; i < kIterations; ++i) {
      double slowest = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        slowest = std::max(slowest, JitterFactor(0.05, 0, 5, rank, i));
      sum += (slowest - 1) / 0.05;
    }
    EXPECT_NEAR(sum / kIterations, expected - 0.01, 0.02) << ranks;
  }
}

TEST(JitterTest, NoDeviationMeansNoJitter) { EXPECT_EQ(JitterFactor(0, 0, 3, 1, 17), 1.0); }

TEST(JitterTest, SeedRankAndIterationDecide) {
  EXPECT_EQ(JitterFactor(0.05, 0, 3, 1, 17), JitterFactor(0.05, 0, 3, 1, 17));
  EXPECT_NE(JitterFactor(0.05, 0, 3, 1, 17), JitterFactor(0.05, 0, 3, 1, 18));
  EXPECT_NE(JitterFactor(0.05, 0, 3, 1, 17), JitterFactor(0.05, 0, 3, 2, 17));
  EXPECT_NE(JitterFactor(0.05, 0, 3, 1, 17), JitterFactor(0.05, 0, 4, 1, 17));
}

TEST(JitterTest, MeanDeviationAndCutAreThoseOfTheNormalDistribution) {
  constexpr int kDraws = 20'000;
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z =
        (JitterFactor(0.05, 0, 9, static_cast<std::uint32_t>(i % 8), static_cast<std::uint64_t>(i)) - 1) /
        0.05;
    sum += z;
    squares += z * z;
    largest = std::max(largest, std::abs(z));
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.987, 0.02);  // 0.987: what the cut leaves of 1
  EXPECT_LE(largest, 3.0);
  EXPECT_GT(largest, 2.8);
}

TEST(JitterTest, AShareOfAllDrawsStraggles) {
  constexpr int kDraws = 20'000;
  constexpr double kTail = 0.1;
  int longer = 0;
  double sum = 0;
  double longest = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double plain = JitterFactor(0.05, 0, 9, 1, i);
    const double factor = JitterFactor(0.05, kTail, 9, 1, i) / plain;
    EXPECT_GE(factor, 1.0) << "the others are as without a tail";
    longer += factor > 1.0 ? 1 : 0;
    sum += factor;
    longest = std::max(longest, factor);
  }
  EXPECT_NEAR(longer / static_cast<double>(kDraws), kTail, 0.01);
  EXPECT_NEAR((sum - kDraws) / longer, 1.0, 0.05);
  EXPECT_LE(longest, 3.0);
  EXPECT_GT(longest, 2.9);
}

}  // namespace
}  // namespace crossover::trainer
