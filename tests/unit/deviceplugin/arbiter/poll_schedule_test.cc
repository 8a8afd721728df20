#include "deviceplugin/arbiter/poll_schedule.h"

#include <gtest/gtest.h>

namespace crossover::arbiter {
namespace {

constexpr turn::Time kMs = base::kNsPerMs;

// The client has a learned turn of 20 ms and a gap of 12 ms. Its last turn ended at 100 ms.
class PacingTest : public ::testing::Test {
 protected:
  void Take(std::uint32_t k, turn::Time from, turn::Time to, turn::SlotIndex slot = 0) {
    Watch(slot, {k, k - 1, k - 1, 0}, from);
    Watch(slot, {k, k, k - 1, 0}, from);
    Watch(slot, {k, k, k, 0}, to);
  }
  // Shows the policy the words of a client. `turns` gives them as numbers of turns of one stretch.
  void Watch(turn::SlotIndex slot, turn::ClientWords turns, turn::Time now) {
    policy_.Watch(
        slot,
        {turn::FirstStretch(turns.ready), turn::FirstStretch(turns.hold), turn::FirstStretch(turns.rel), 0},
        now);
  }
  turn::Time Pace(turn::Time now) const { return NextPoll(now, now + kMs / 10, policy_, gated_); }
  void SetUp() override {
    policy_.Join(0, 0);
    policy_.Join(1, 1);
    Take(1, 48 * kMs, 68 * kMs);
    Take(2, 80 * kMs, 100 * kMs);
  }

  turn::Policy policy_;
  turn::SlotSet gated_{0b11};
};

TEST_F(PacingTest, SparseInTheMiddleOfALearnedTurn) {
  Watch(0, {3, 2, 2, 0}, 112 * kMs);
  Watch(0, {3, 3, 2, 0}, 112 * kMs);
  EXPECT_EQ(Pace(120 * kMs), 121 * kMs);
}

TEST_F(PacingTest, DenseNearItsEndAndAfter) {
  Watch(0, {3, 2, 2, 0}, 112 * kMs);
  Watch(0, {3, 3, 2, 0}, 112 * kMs);
  EXPECT_EQ(Pace(131 * kMs), 131 * kMs + kMs / 10);
  EXPECT_EQ(Pace(140 * kMs), 140 * kMs + kMs / 10);
  EXPECT_EQ(Pace(130 * kMs + kMs / 2), 131 * kMs) << "not past the point where it gets dense";
}

TEST_F(PacingTest, DenseInATurnOfUnknownLength) {
  Watch(1, {1, 0, 0, 0}, 101 * kMs);
  Watch(1, {1, 1, 0, 0}, 101 * kMs);
  EXPECT_EQ(Pace(102 * kMs), 102 * kMs + kMs / 10);
}

TEST_F(PacingTest, DenseWhileAClientWaits) {
  Watch(1, {1, 0, 0, 0}, 101 * kMs);
  EXPECT_EQ(Pace(102 * kMs), 102 * kMs + kMs / 10);
}

TEST_F(PacingTest, SparseWhileNoneIsExpectedAndDenseNearTheArrival) {
  EXPECT_EQ(Pace(104 * kMs), 105 * kMs);
  EXPECT_EQ(Pace(112 * kMs), 112 * kMs + kMs / 10);
  EXPECT_EQ(Pace(111 * kMs), 111 * kMs + 4 * kMs / 10) << "not past the point where it gets dense";
  EXPECT_EQ(Pace(150 * kMs), 151 * kMs) << "an arrival that is long overdue is not waited for";
}

TEST_F(PacingTest, LeavesTheOpenerAloneWhileNoneIsGated) {
  EXPECT_EQ(NextPoll(104 * kMs, 104 * kMs + kMs / 5, policy_, turn::SlotSet{}), 104 * kMs + kMs / 5);
}

TEST_F(PacingTest, NeverEarlierThanTheTurnstileWants) {
  EXPECT_EQ(NextPoll(104 * kMs, 500 * kMs, policy_, gated_), 500 * kMs);
}

TEST_F(PacingTest, DenseWhenAClientOfHigherPriorityIsExpected) {
  Take(1, 60 * kMs, 65 * kMs, 1);
  Take(2, 95 * kMs, 100 * kMs, 1);
  Watch(0, {3, 2, 2, 0}, 112 * kMs);
  Watch(0, {3, 3, 2, 0}, 112 * kMs);
  EXPECT_EQ(Pace(129'500'000), 130'500'000);
  policy_.SetPriority(1, turn::Priority::kHigh);
  EXPECT_EQ(Pace(129'500'000), 129'700'000) << "a moment before";
}

TEST(LaunchesPerStretch, AreAShareOfATurnsLaunches) {
  EXPECT_EQ(LaunchesPerStretch(5 * kMs, 40 * kMs, 80), 10u);
  EXPECT_EQ(LaunchesPerStretch(kMs / 4, 40 * kMs, 80), 1u) << "a launch at least";
  EXPECT_EQ(LaunchesPerStretch(0, 40 * kMs, 80), 0u) << "none is wanted";
  EXPECT_EQ(LaunchesPerStretch(5 * kMs, 4 * kMs, 80), 0u) << "shorter than a stretch";
  EXPECT_EQ(LaunchesPerStretch(5 * kMs, turn::kNever, 80), 0u);
  EXPECT_EQ(LaunchesPerStretch(5 * kMs, 40 * kMs, 0), 0u);
  EXPECT_EQ(LaunchesPerStretch(5 * kMs, 40 * kMs, 0xffffffffu), 0u) << "no job launches so often";
}

}  // namespace
}  // namespace crossover::arbiter
