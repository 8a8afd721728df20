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
  for (std::size_t i = 0; i < RecentDurations::kKept; ++i)
    durations.Add((20 + static_cast<turn::Time>(i % 3)) * kMs);
  EXPECT_EQ(durations.Median(), 21 * kMs);
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
  Steps(RecentSteps::kLeast - 1, 20 * kMs);
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
  Steps(1, 5 * kSecond);
  Steps(50, 20 * kMs);
  EXPECT_EQ(steps_.Mean(), 20 * kMs);
}

TEST_F(RecentStepsTest, OnlyTheWindowCounts) {
  Steps(100, 40 * kMs);
  Steps(static_cast<int>(RecentSteps::kWindow / (30 * kMs)) + 2, 30 * kMs);
  EXPECT_EQ(steps_.Mean(), 30 * kMs);
}

TEST_F(RecentStepsTest, LongIterationsAreSaidAnythingOfToo) {
  Steps(8, 60 * kSecond, 2);
  EXPECT_EQ(steps_.Mean(), 60 * kSecond);
  EXPECT_EQ(steps_.MeanAt(now_ + 100 * kSecond), 60 * kSecond);
}

TEST_F(RecentStepsTest, AJobThatStandsStillHasNoStepTime) {
  Steps(50, 20 * kMs);
  EXPECT_EQ(steps_.MeanAt(now_ + kSecond), 20 * kMs);
  EXPECT_FALSE(steps_.MeanAt(now_ + RecentSteps::kWindow + kSecond));
}

}  // namespace
}  // namespace crossover::deviceplugin
