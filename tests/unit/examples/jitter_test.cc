#include <gtest/gtest.h>

#include <cmath>

#include "examples/trainer/random.h"

namespace crossover::trainer {
namespace {

TEST(JitterTest, NoDeviationMeansNoJitter) { EXPECT_EQ(JitterFactor(0, 3, 1, 17), 1.0); }

TEST(JitterTest, SeedRankAndIterationDecide) {
  EXPECT_EQ(JitterFactor(0.05, 3, 1, 17), JitterFactor(0.05, 3, 1, 17));
  EXPECT_NE(JitterFactor(0.05, 3, 1, 17), JitterFactor(0.05, 3, 1, 18));
  EXPECT_NE(JitterFactor(0.05, 3, 1, 17), JitterFactor(0.05, 3, 2, 17));
  EXPECT_NE(JitterFactor(0.05, 3, 1, 17), JitterFactor(0.05, 4, 1, 17));
}

TEST(JitterTest, MeanDeviationAndCutAreThoseOfTheNormalDistribution) {
  constexpr int kDraws = 20'000;
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z =
        (JitterFactor(0.05, 9, static_cast<std::uint32_t>(i % 8), static_cast<std::uint64_t>(i)) - 1) / 0.05;
    sum += z;
    squares += z * z;
    largest = std::max(largest, std::abs(z));
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.987, 0.02);  // 0.987: what the cut leaves of 1
  EXPECT_LE(largest, 3.0);
  EXPECT_GT(largest, 2.8);
}

}  // namespace
}  // namespace crossover::trainer
