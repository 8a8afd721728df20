#include "common/gains/balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace crossover::gains {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(Balance, GivesEachRankAPartByItsSpeed) {
  const Balance balance = BalanceOf(std::vector<RankTimes>{{0.1}, {0.1}, {0.2}, {0.4}}, std::vector(4, 1.0));
  EXPECT_DOUBLE_EQ(balance.longest_s, 0.4);
  EXPECT_DOUBLE_EQ(balance.together_s, 0.4 / 2.75) << "2.75 is the sum of the speeds, 1 for 0.1 s";
  const double whole = 4 / 2.75;
  EXPECT_THAT(balance.parts, ElementsAre(DoubleNear(whole, 1e-9), DoubleNear(whole, 1e-9),
                                         DoubleNear(whole / 2, 1e-9), DoubleNear(whole / 4, 1e-9)));
}

// The parts that come out take all ranks equally long, and all of the work is done.
TEST(Balance, LetsAllRanksEndAtTheSameTime) {
  std::mt19937 random(7);
  const auto draw = [&random](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<RankTimes> ranks;
    std::vector<double> parts;
    for (int i = 0; i < 1 + round % 9; ++i) {
      ranks.push_back({.compute_s = draw(0.05, 0.2), .wait_s = draw(0, 0.02)});
      parts.push_back(draw(0.5, 2));
    }
    const Balance balance = BalanceOf(ranks, parts);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const double now = balance.parts[i] * ranks[i].compute_s / parts[i] + ranks[i].wait_s;
      EXPECT_NEAR(now, balance.together_s, 1e-9);
    }
    EXPECT_NEAR(std::accumulate(balance.parts.begin(), balance.parts.end(), 0.0),
                std::accumulate(parts.begin(), parts.end(), 0.0), 1e-9);
    EXPECT_LE(balance.together_s, balance.longest_s + 1e-12);
  }
}

TEST(WaitBesideTest, ATurnThatTheWaitForOtherRanksHidesIsNotHiddenFromALargerPart) {
  const std::vector<Neighbour> one = {{.compute_s = 0.04, .step_s = 0.048}};
  EXPECT_DOUBLE_EQ(WaitBeside(0.02, 0.008, 0.056, one), 0.032) << "communication hides a part of its turn";
  EXPECT_DOUBLE_EQ(WaitBeside(0.035, 0.008, 0.056, one), 0.035);
  EXPECT_DOUBLE_EQ(WaitBeside(0.02, 0.008, 0.056, {}), 0.02);
  const std::vector<Neighbour> slow = {{.compute_s = 0.08, .step_s = 0.112}};
  EXPECT_DOUBLE_EQ(WaitBeside(0, 0.008, 0.056, slow), 0.032) << "it has a turn in each second iteration";
}

TEST(Balance, ARankThatWaitsLongerThanTheStepGetsNoPart) {
  const Balance balance = BalanceOf(std::vector<RankTimes>{{0.1}, {0.1, 1}}, std::vector(2, 1.0));
  EXPECT_EQ(balance.parts[1], 0);
}

TEST(Balance, WhatAStepHasBesideItsLongestRankStays) {
  const Balance balance = BalanceOf(std::vector<RankTimes>{{0.1}, {0.3}}, std::vector(2, 1.0));
  EXPECT_DOUBLE_EQ(balance.together_s, 0.15);
  EXPECT_DOUBLE_EQ(GainOf(balance, 0.3), 2);
  EXPECT_DOUBLE_EQ(GainOf(balance, 0.35), 0.35 / 0.2);
  EXPECT_DOUBLE_EQ(GainOf(balance, 0.29), 1) << "no step is shorter than its longest rank";
}

}  // namespace
}  // namespace crossover::gains
