#include "deviceplugin/arbiter/iteration_counter.h"

#include <gtest/gtest.h>

namespace crossover::arbiter {
namespace {

constexpr turn::Time kMs = base::kNsPerMs;

class StepsTest : public ::testing::Test {
 protected:
  // Makes two advances 20 ms apart. The counter reports the second one.
  void Begin(std::uint32_t from) {
    EXPECT_FALSE(counter_.Watch(from, now_));
    EXPECT_FALSE(counter_.Watch(from + 1, now_ += 20 * kMs)) << "when the one before was is not known";
    EXPECT_TRUE(counter_.Watch(from + 2, now_ += 20 * kMs));
  }

  IterationCounter counter_;
  turn::Time now_ = 1000 * kMs;
};

TEST_F(StepsTest, AnAdvanceIsAsLongAsTheTimeSinceTheLast) {
  Begin(0);
  EXPECT_FALSE(counter_.Watch(2, now_ + 10 * kMs));
  const auto steps = counter_.Watch(3, now_ + 30 * kMs);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->count, 1u);
  EXPECT_EQ(steps->each, 30 * kMs);
}

TEST_F(StepsTest, SeveralAtOnceShareTheTime) {
  Begin(0);
  const auto steps = counter_.Watch(7, now_ + 100 * kMs);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->count, 5u);
  EXPECT_EQ(steps->each, 20 * kMs);
}

TEST_F(StepsTest, TheWordWraps) {
  Begin(UINT32_MAX - 1);
  EXPECT_EQ(counter_.Watch(3, now_ + 60 * kMs)->count, 3u);
}

TEST_F(StepsTest, AdvancesCloseTogetherAreReportedTogether) {
  Begin(0);
  EXPECT_FALSE(counter_.Watch(3, now_ + kMs));
  const auto steps = counter_.Watch(4, now_ + 2 * kMs);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->count, 2u);
  EXPECT_EQ(steps->each, kMs);
}

TEST_F(StepsTest, AWordThatJumpsIsWatchedAnew) {
  for (const std::uint32_t jump : {1'000'000u, 0x80000000u, UINT32_MAX - 5}) {
    counter_.Reset();
    Begin(10);
    EXPECT_FALSE(counter_.Watch(12 + jump, now_ += 20 * kMs)) << jump;
    EXPECT_FALSE(counter_.Watch(13 + jump, now_ += 20 * kMs)) << jump;
    const auto steps = counter_.Watch(14 + jump, now_ += 20 * kMs);
    ASSERT_TRUE(steps) << jump;
    EXPECT_EQ(steps->count, 1u);
    EXPECT_EQ(steps->each, 20 * kMs);
  }
}

// The arbiter looks at a client only ten times a second while the client is alone.
TEST_F(StepsTest, AClientThatIsNeverSeenToMakeOneStepIsCountedToo) {
  EXPECT_FALSE(counter_.Watch(0, now_));
  EXPECT_FALSE(counter_.Watch(5, now_ += 100 * kMs));
  EXPECT_EQ(counter_.Watch(10, now_ += 100 * kMs)->each, 20 * kMs);
}

// The client has taken part for long when the arbiter looks at it first.
TEST_F(StepsTest, TheFirstLookCountsNothing) {
  EXPECT_FALSE(counter_.Watch(5000, now_));
  EXPECT_FALSE(counter_.Watch(5000, now_ += 20 * kMs));
}

TEST_F(StepsTest, NoWordMakesAnIterationShorterThanTheBound) {
  Begin(0);
  std::uint32_t state = 1;
  std::uint32_t word = 2;
  for (int i = 0; i < 100'000; ++i) {
    state = state * 1664525u + 1013904223u;
    word += (state & 16) != 0 ? state >> 8 : (state >> 8) % 200;
    const auto steps = counter_.Watch(word, now_ += (state >> 4) % (20 * kMs));
    if (steps) {
      EXPECT_GE(steps->each, IterationCounter::kShortestStep);
      EXPECT_GE(steps->count, 1u);
    }
  }
}

}  // namespace
}  // namespace crossover::arbiter
