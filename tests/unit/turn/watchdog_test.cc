#include "turn/watchdog.h"

#include <gtest/gtest.h>

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;
constexpr Time kFloor = 200 * kMs;
constexpr SlotSet kBoth(0b11);

ClientWords Holding(std::uint32_t turn) {
  const TurnNumber k = FirstStretch(turn);
  return {.ready = k, .hold = k, .rel = FirstStretch(turn - 1), .gate = LastStretch(k)};
}

TEST(Watchdog, TheBoundIsFourUsualTurnsAndNeverUnderTheFloor) {
  const Watchdog watchdog;
  EXPECT_FALSE(watchdog.Over(0, 0, kNever, true, kFloor - 1));
  EXPECT_TRUE(watchdog.Over(0, 0, kNever, true, kFloor));
  EXPECT_FALSE(watchdog.Over(0, 0, 100 * kMs, false, 399 * kMs));
  EXPECT_TRUE(watchdog.Over(0, 0, 100 * kMs, false, 400 * kMs));
}

TEST(Watchdog, TimeLostByLatePollsDoesNotCountInTheTurnInWhichItWasLost) {
  Watchdog watchdog;
  watchdog.Held(0);
  watchdog.Polled(10 * kMs, 510 * kMs);
  watchdog.Polled(520 * kMs, 523 * kMs);
  EXPECT_FALSE(watchdog.Over(0, 0, kNever, true, kFloor + 500 * kMs - 1));
  EXPECT_TRUE(watchdog.Over(0, 0, kNever, true, kFloor + 500 * kMs)) << "a little late is ordinary";
  watchdog.Held(0);
  EXPECT_TRUE(watchdog.Over(0, 600 * kMs, kNever, true, 600 * kMs + kFloor)) << "its next turn";
}

TEST(Watchdog, WhoIsSuspendedIsBackWhenItsTurnIs) {
  Watchdog watchdog;
  watchdog.Suspend(0, FirstStretch(5), true, kFloor);
  watchdog.See(0, Holding(5));
  watchdog.TurnEnded(kFloor + kMs);
  EXPECT_TRUE(watchdog.suspended().Has(0)) << "the others go round without it";
  watchdog.See(0, Holding(6));
  EXPECT_FALSE(watchdog.suspended().Has(0));
}

TEST(Watchdog, TheSecondOffenceIsNamed) {
  Watchdog watchdog;
  watchdog.Suspend(0, FirstStretch(5), true, 0);
  EXPECT_FALSE(watchdog.offenders().Has(0));
  watchdog.Suspend(0, FirstStretch(9), true, kMs);
  EXPECT_TRUE(watchdog.offenders().Has(0));
}

TEST(Watchdog, NoClientIsBlamedForAFirstTurn) {
  Watchdog watchdog;
  for (std::uint32_t turn = 1; turn < 9; ++turn) watchdog.Suspend(0, FirstStretch(turn), false, turn * kMs);
  EXPECT_EQ(watchdog.offenders().Count(), 0);
}

TEST(Watchdog, WhoNeverGivesItsTurnBackIsNamedAndNamedAgain) {
  Watchdog watchdog;
  watchdog.Suspend(0, FirstStretch(5), false, 0);
  watchdog.Polled(kMs, 1001 * kMs);  // a second was lost
  watchdog.NameStuck(50 * kFloor + 999 * kMs);
  EXPECT_FALSE(watchdog.offenders().Has(0));
  watchdog.NameStuck(50 * kFloor + 1000 * kMs);
  EXPECT_TRUE(watchdog.offenders().Has(0));
  const Time later = 2 * WatchdogSettings().forgive;
  watchdog.Forgive(kBoth, later);
  EXPECT_FALSE(watchdog.offenders().Has(0));
  watchdog.NameStuck(later);
  EXPECT_TRUE(watchdog.offenders().Has(0));
}

TEST(Watchdog, WhereTurnsLastNoneIsNamedForWaiting) {
  Watchdog watchdog;
  watchdog.set_turns_last(true);
  watchdog.Suspend(0, FirstStretch(5), true, 0);
  watchdog.NameStuck(1000 * kFloor);
  EXPECT_FALSE(watchdog.offenders().Has(0));
}

class TurnsLastTest : public ::testing::Test {
 protected:
  void SetUp() override { watchdog_.set_turns_last(true); }
  Watchdog watchdog_;
};

TEST_F(TurnsLastTest, WhoGoesFirstIsGivenTwiceAsLong) {
  EXPECT_TRUE(watchdog_.Over(0, 0, kNever, false, kFloor));
  EXPECT_FALSE(watchdog_.Over(0, 0, kNever, true, 2 * kFloor - 1));
  EXPECT_TRUE(watchdog_.Over(0, 0, kNever, true, 2 * kFloor));
}

TEST_F(TurnsLastTest, TheTurnIsTheHoldersAgainAfterOneOfTheOthers) {
  watchdog_.Suspend(0, FirstStretch(5), true, kFloor);
  watchdog_.TurnEnded(kFloor + 10 * kMs);
  EXPECT_FALSE(watchdog_.suspended().Has(0));
  EXPECT_FALSE(watchdog_.Over(0, 0, kNever, false, kFloor + 100 * kMs)) << "the bound counts from there";
  EXPECT_TRUE(watchdog_.Over(0, 0, kNever, false, 2 * kFloor + 10 * kMs));
}

// A checkpoint may hold a turn for seconds. Meanwhile its neighbour must get more than one turn per bound.
TEST_F(TurnsLastTest, WhoIsStillThereIsSuspendedForGoodAndBlamedOnce) {
  for (std::uint32_t again = 0; again < 10; ++again) {
    watchdog_.Suspend(0, FirstStretch(5), true, again * kFloor);
    watchdog_.TurnEnded(again * kFloor + kMs);
    EXPECT_EQ(watchdog_.suspended().Has(0), again > 0);
  }
  EXPECT_EQ(watchdog_.offenders().Count(), 0);
  watchdog_.See(0, Holding(6));
  EXPECT_FALSE(watchdog_.suspended().Has(0));
}

TEST_F(TurnsLastTest, TheEighthOffenceIsNamedAndOneAfterThePardon) {
  Time now = 0;
  std::uint32_t turn = 1;
  for (; turn < 8; ++turn) watchdog_.Suspend(0, FirstStretch(turn), true, now += kMs);
  EXPECT_FALSE(watchdog_.offenders().Has(0));
  watchdog_.Suspend(0, FirstStretch(turn++), true, now += kMs);
  EXPECT_TRUE(watchdog_.offenders().Has(0));
  watchdog_.Forgive(kBoth, now += WatchdogSettings{}.forgive);
  EXPECT_FALSE(watchdog_.offenders().Has(0)) << "tried again";
  watchdog_.Suspend(0, FirstStretch(turn), true, now += kMs);
  EXPECT_TRUE(watchdog_.offenders().Has(0));
}

}  // namespace
}  // namespace crossover::turn::test
