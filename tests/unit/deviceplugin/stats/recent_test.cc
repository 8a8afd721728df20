#include "deviceplugin/stats/recent.h"

#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

constexpr turn::Time kMs = base::kNsPerMs;
constexpr turn::Time kSecond = base::kNsPerSecond;

TEST(RecentDurationsTest, TheMedianIsOfTheLastOnes) {
  RecentDurations durations;
  EXPECT_FALSE(durations.Median());
  for (int i = 0; i < 100; ++i) durations.Add(1000 * kMs);
  for (int i = 0; i < 31; ++i) durations.Add(20 * kMs);
  EXPECT_EQ(durations.Median(), 1000 * kMs) << "33 of 64 are older";
  for (int i = 31; i < 64; ++i) durations.Add((20 + i % 3) * kMs);
  EXPECT_EQ(durations.Median(), 20 * kMs);
}

class RecentStepsTest : public ::testing::Test {
 protected:
  void Steps(int reports, turn::Time each, std::uint32_t count = 1) {
    for (int i = 0; i < reports; ++i) steps_.Add(now_ += each * count, each, count);
  }

  RecentSteps steps_;
  turn::Time now_ = 1000 * kSecond;
};

TEST_F(RecentStepsTest, SaysNothingOfAFew) {
  Steps(4, 20 * kMs);
  EXPECT_FALSE(steps_.Mean());
  Steps(1, 20 * kMs);
  EXPECT_EQ(steps_.Mean(), 20 * kMs);
}

TEST_F(RecentStepsTest, EachIterationCountsAlike) {
  Steps(1, 10 * kMs, 9);
  Steps(1, 20 * kMs, 1);
  EXPECT_EQ(steps_.Mean(), 11 * kMs);
}

TEST_F(RecentStepsTest, IterationsThatJitterGiveTheirRate) {
  for (int i = 0; i < 50; ++i) {
    Steps(1, 10 * kMs);
    Steps(1, 30 * kMs);
  }
  EXPECT_EQ(steps_.Mean(), 20 * kMs);
}

TEST_F(RecentStepsTest, AStallIsLeftOut) {
  Steps(50, 20 * kMs);
  Steps(1, 80 * kMs);
  Steps(50, 20 * kMs);
  EXPECT_EQ(steps_.Mean(), 20 * kMs);
  Steps(1, 79 * kMs);
  EXPECT_GT(steps_.Mean(), 20 * kMs) << "less than four times the median is no stall";
}

TEST_F(RecentStepsTest, OnlyTheWindowCounts) {
  Steps(100, 40 * kMs);
  Steps(300, 30 * kMs);
  EXPECT_GT(steps_.Mean(), 30 * kMs) << "nine seconds";
  Steps(40, 30 * kMs);
  EXPECT_EQ(steps_.Mean(), 30 * kMs);
}

TEST_F(RecentStepsTest, OnlyTheLast512ReportsCount) {
  Steps(1, 3 * kMs);
  Steps(511, kMs);
  EXPECT_GT(steps_.Mean(), kMs);
  Steps(1, kMs);
  EXPECT_EQ(steps_.Mean(), kMs);
}

TEST_F(RecentStepsTest, LongIterationsAreSaidAnythingOfToo) {
  Steps(1, 70 * kSecond, 2);
  Steps(4, 60 * kSecond, 2);
  EXPECT_EQ(steps_.Mean(), 60 * kSecond);
  EXPECT_EQ(steps_.MeanAt(now_ + 100 * kSecond), 60 * kSecond);
}

TEST_F(RecentStepsTest, AJobThatStandsStillHasNoStepTime) {
  Steps(50, 20 * kMs);
  EXPECT_EQ(steps_.MeanAt(now_ + kSecond), 20 * kMs);
  EXPECT_FALSE(steps_.MeanAt(now_ + 11 * kSecond));
}

}  // namespace
}  // namespace crossover::deviceplugin
