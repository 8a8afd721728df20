#include "common/gains/turns.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace crossover::gains {
namespace {

// Returns the largest equal rate that the three sums allow, by steps of 1e-4, if no job has a floor.
double ByTrial(const std::vector<Use>& uses, double top) {
  double best = 0;
  for (double rate = 0; rate <= top; rate += 1e-4) {
    double gpu = 0, link = 0, host = 0;
    for (const Use& use : uses) {
      gpu += rate * use.gpu;
      link += rate * use.link;
      host += rate * use.host;
    }
    if (gpu <= top && link <= top && host <= top) best = rate;
  }
  return best;
}

TEST(FairRatesTest, AreTheLargestThatGpuLinkAndHostAllow) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> part(0, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Use> uses;
    for (int job = 0; job < 1 + round % 4; ++job)
      uses.push_back({.gpu = part(random), .link = part(random), .host = part(random)});
    const double top = 0.5 + part(random) / 2;
    const FairRates rates(uses, top);
    EXPECT_NEAR(rates.Of(uses.front()), ByTrial(uses, top), 2e-4) << "round " << round;
    EXPECT_NEAR(rates.Sum(), static_cast<double>(uses.size()) * rates.Of(uses.front()), 1e-9);
  }
}

TEST(FairRatesTest, WhatALinkNeedsBindsWhereTheGpuDoesNot) {
  const std::array uses = {Use{.gpu = 0.4, .link = 0.8}, Use{.gpu = 0.4, .link = 0.8}};
  EXPECT_NEAR(FairRates(uses, 1).Sum(), 1.25, 1e-9);
  const std::array without = {Use{.gpu = 0.4}, Use{.gpu = 0.4}};
  EXPECT_NEAR(FairRates(without, 1).Sum(), 2, 1e-9) << "the control: a model that ignores the link";
}

TEST(FairRatesTest, AFloorIsKeptAndTheOthersShareWhatIsLeft) {
  const std::array uses = {Use{.gpu = 1, .floor = 0.8}, Use{.gpu = 1}};
  const FairRates rates(uses, 1);
  EXPECT_NEAR(rates.Of(uses[0]), 0.8, 1e-9);
  EXPECT_NEAR(rates.Of(uses[1]), 0.2, 1e-9);
  EXPECT_TRUE(rates.FloorsKept());
  const std::array both = {Use{.gpu = 1, .floor = 0.8}, Use{.gpu = 1, .floor = 0.3}};
  EXPECT_FALSE(FairRates(both, 1).FloorsKept());
  EXPECT_FALSE(FairRates(uses, 0.75).FloorsKept()) << "turns themselves cost more";
}

TEST(FairRatesTest, AJobAloneLosesWhatTurnsLose) {
  const std::array uses = {Use{.gpu = 0.5}};
  EXPECT_NEAR(FairRates(uses, 0.95).Sum(), 0.95, 1e-9);
}

}  // namespace
}  // namespace crossover::gains
