#include "turn/caps.h"

#include <gtest/gtest.h>

#include <array>

namespace crossover::turn {
namespace {

constexpr Time kMs = 1'000'000;
constexpr Time kHandOver = 100'000;

CappedDemand Job(Time busy_ms, Time away_ms, double cap) {
  return {.demand = {.busy = busy_ms * kMs, .away = away_ms * kMs}, .cap = cap};
}
double Needed(const CappedDemand& a, const CappedDemand& b) {
  return PartNeeded(std::array<CappedDemand, 2>{a, b}, kHandOver);
}

TEST(PartNeededTest, NothingWithoutCaps) { EXPECT_EQ(Needed(Job(20, 0, 0), Job(20, 0, 0)), 0); }

// Two jobs that only compute run at half speed each, which is a cap of 2 with nothing to spare. The policy
// keeps a tenth of the allowed delay to spare and counts hand-overs, so caps of 2 do not fit.
TEST(PartNeededTest, JobsThatNeverCommunicateNeedAllOfIt) {
  EXPECT_GT(Needed(Job(20, 0, 2), Job(20, 0, 2)), 1.0);
  EXPECT_LT(Needed(Job(20, 0, 3), Job(20, 0, 3)), 0.8);
  EXPECT_GT(Needed(Job(20, 0, 1.2), Job(20, 0, 3)), 1.0) << "5/6 and 1/3";
}

TEST(PartNeededTest, WhatOneLeavesIsFreeForWhoHasNoCap) {
  EXPECT_LT(Needed(Job(20, 0, 1.2), Job(20, 0, 0)), 0.9);
}

TEST(PartNeededTest, JobsThatFitIntoEachOthersAbsenceNeedLittle) {
  EXPECT_LT(Needed(Job(10, 20, 1.2), Job(10, 20, 1.2)), 0.8);
}

// By their use of the GPU these jobs would fit: they need 0.82 of it. But the short job only computes for
// half of the time in which the long one is away, and cannot make up for the rest.
TEST(PartNeededTest, AShortJobCannotDoMoreThanItsOwnSpeedInTheOthersAbsence) {
  EXPECT_GT(Needed(Job(58, 53, 1.13), Job(2, 2, 1.39)), 1.0);
}

class PaceTest : public ::testing::Test {
 protected:
  PaceTest() { pace_.set_cap(1.5); }
  // Runs iterations that take 20 ms alone. The cap of 1.5 makes 29 ms the target.
  void Iterations(int count, Time step, Time waited = 0) {
    for (int i = 0; i < count; ++i) {
      pace_.Begin(now_, 20 * kMs);
      pace_.Wait(waited);
      pace_.End();
      now_ += step;
    }
    pace_.Begin(now_, 20 * kMs);
  }
  Pace pace_;
  Time now_ = 0;
};

TEST_F(PaceTest, NothingIsKnownAtFirst) {
  EXPECT_EQ(pace_.Allowance(), kNever);
  pace_.Begin(0, kNever);
  EXPECT_EQ(pace_.Allowance(), kNever);
}

TEST_F(PaceTest, EachIterationMayWaitForWhatTheCapLeaves) {
  pace_.Begin(0, 20 * kMs);
  EXPECT_EQ(pace_.Allowance(), 9 * kMs);
  pace_.Wait(4 * kMs);
  EXPECT_EQ(pace_.Allowance(), 5 * kMs);
}

TEST_F(PaceTest, WhatWasNotWaitedForMayBeLater) {
  Iterations(3, 20 * kMs);
  EXPECT_EQ(pace_.Allowance(), (9 + 3 * 9) * kMs);
}

TEST_F(PaceTest, WhatWasWaitedForTooLongIsMissingLater) {
  Iterations(3, 35 * kMs, 15 * kMs);
  EXPECT_EQ(pace_.Allowance(), (9 - 3 * 6) * kMs);
}

TEST_F(PaceTest, WhoIsAwayIsAskedAboutItsNextIteration) {
  pace_.Begin(0, 20 * kMs);
  pace_.Wait(4 * kMs);
  pace_.End();
  const Time before = pace_.Allowance();
  pace_.Begin(24 * kMs, 20 * kMs);
  EXPECT_EQ(pace_.Allowance(), before) << "it came back when expected";
}

TEST_F(PaceTest, CreditIsBounded) {
  Iterations(10'000, 20 * kMs);
  EXPECT_EQ(pace_.Allowance(), (500 + 9) * kMs);
}

// An iteration that takes more than four times its length alone is a stall, such as a checkpoint, and no
// other job causes it. A shorter delay counts: a slow link or another rank may have caused it.
TEST_F(PaceTest, StallsOfItsOwnMakingDoNotCount) {
  Iterations(1, 30'000 * kMs);
  EXPECT_EQ(pace_.Allowance(), 9 * kMs);
}
TEST_F(PaceTest, WhatOthersDoElsewhereCounts) {
  Iterations(1, 60 * kMs);
  EXPECT_EQ(pace_.Allowance(), (9 - 31) * kMs);
}

}  // namespace
}  // namespace crossover::turn
