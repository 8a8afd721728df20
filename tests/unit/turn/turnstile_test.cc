#include "turn/turnstile.h"

#include <gtest/gtest.h>

#include "tests/unit/turn/plain_memory.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

class TurnstileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (SlotIndex slot : {0u, 1u}) {
      turnstile_.Join(slot, slot);
      turnstile_.SetGated(slot, true);
    }
    Poll(0);
  }
  // Polls whenever the turnstile wants to be polled, up to `end`, and at `end`.
  void RunUntil(Time end) {
    while (due_ < end) Poll(due_);
    Poll(end);
  }
  // Lets client 0 end its first turn at 20 ms, and polls a ms later. It asks for no turn, and client 1 waits
  // for one.
  void EndATurnWhileOneWaits() {
    memory_.Ask(0, 1);
    Poll(1 * kMs);
    ASSERT_TRUE(memory_.Enter(0, 1));
    memory_.Ask(1, 1);
    RunUntil(20 * kMs);
    memory_.Leave(0, 0);
    RunUntil(21 * kMs);
  }
  Time Poll(Time now) { return due_ = turnstile_.Poll(memory_, now); }
  Time due_ = 0;
  PlainMemory memory_;
  Turnstile turnstile_;
};

TEST(Turnstile, HasCountedNothingAtFirst) {
  const Stats stats = Turnstile().stats();
  EXPECT_EQ(stats.turns + stats.handed_over + stats.granted + stats.preempted + stats.revoked, 0u);
  EXPECT_EQ(stats.minted + stats.swallowed + stats.opened + stats.held_back + stats.trials, 0u);
  EXPECT_EQ(stats.rest_while_ready + stats.looked + stats.lost, 0);
}

TEST_F(TurnstileTest, CountsTurnsAndHandOvers) {
  memory_.Ask(0, 1);
  Poll(1 * kMs);
  ASSERT_TRUE(memory_.Enter(0, 1));
  Poll(2 * kMs);
  memory_.Ask(1, 1);
  memory_.Leave(0, turnstile_.successor(0, FirstStretch(1)));
  ASSERT_TRUE(memory_.Enter(1, 1));
  Poll(20 * kMs);
  EXPECT_EQ(turnstile_.stats().turns, 2u);
  EXPECT_EQ(turnstile_.stats().granted, 1u);
  EXPECT_EQ(turnstile_.stats().handed_over, 1u);
}

TEST_F(TurnstileTest, AKilledHolderIsReplacedAtTheNextPoll) {
  memory_.Ask(0, 1);
  Poll(0);
  ASSERT_TRUE(memory_.Enter(0, 1));
  memory_.Ask(1, 1);
  Poll(1 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 1));
  turnstile_.Leave(0);
  Poll(2 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 1));
  EXPECT_EQ(turnstile_.stats().minted, 2u);
}

TEST_F(TurnstileTest, ATurnBrokenForAHigherPriorityGoesOnAfterIt) {
  turnstile_.SetPriority(1, Priority::kHigh);
  memory_.Ask(0, 1);
  Poll(0);
  ASSERT_TRUE(memory_.Enter(0, 1));
  Poll(1 * kMs);
  const std::uint64_t minted = turnstile_.stats().minted;
  memory_.Ask(1, 1);
  Poll(2 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 1)) << "until the yield point";
  EXPECT_FALSE(memory_.Yield(0));
  Poll(3 * kMs);
  ASSERT_TRUE(memory_.Enter(1, 1));
  EXPECT_EQ(turnstile_.stats().preempted, 1u);
  EXPECT_EQ(turnstile_.stats().minted, minted) << "no token was lost";
  Poll(4 * kMs);
  memory_.Leave(1, turnstile_.successor(1, FirstStretch(1)));
  EXPECT_TRUE(memory_.GoOn(0));
  Poll(9 * kMs);
  memory_.Leave(0, 1);
  Poll(10 * kMs);
  EXPECT_EQ(turnstile_.policy().timing(0).longest_turn(), 3 * kMs)
      << "two and one, without the time it waited";
}

class StuckHolderTest : public TurnstileTest {
 protected:
  void SetUp() override {
    TurnstileTest::SetUp();
    ASSERT_NO_FATAL_FAILURE(Hold(1, -30 * kMs));
    memory_.Leave(0, 0);
    Poll(-20 * kMs);
    ASSERT_NO_FATAL_FAILURE(Hold(2, 0));
    memory_.Ask(1, 1);
    Poll(1 * kMs);
  }
  void Hold(std::uint32_t turn, Time when) {
    memory_.Ask(0, turn);
    Poll(when - kMs);
    Poll(when);
    ASSERT_TRUE(memory_.Enter(0, turn));
    Poll(when);
  }
  // Client 1 was let in beside client 0. Both give their turns back, and both name client 1 as their
  // successor.
  void BothGiveBack() {
    ASSERT_TRUE(memory_.Enter(1, 1));
    memory_.Leave(1, 1);
    memory_.Leave(0, 1);
    for (int i = 0; i < 4; ++i) Poll((310 + i) * kMs);
  }
  // Client 0 takes its next turn at about `when`, and client 1 asks for one.
  void HoldAgain(Time when) {
    ASSERT_NO_FATAL_FAILURE(Hold(3, when + kMs));
    memory_.Ask(1, 2);
    Poll(when + 2 * kMs);
  }
};

TEST_F(StuckHolderTest, KeepsTheOthersOutUpToItsBound) {
  RunUntil(150 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 1));
  RunUntil(300 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 1));
  EXPECT_EQ(turnstile_.stats().opened, 1u);
}

TEST_F(StuckHolderTest, TurnsGoRoundWithoutIt) {
  RunUntil(300 * kMs);
  for (std::uint32_t k = 1; k <= 5; ++k) {
    ASSERT_TRUE(memory_.Enter(1, k)) << "turn " << k;
    Poll((300 + 20 * k) * kMs);
    memory_.Leave(1, turnstile_.successor(1, FirstStretch(k)));
    memory_.Ask(1, k + 1);
  }
  EXPECT_EQ(turnstile_.stats().opened, 1u);
}

TEST_F(StuckHolderTest, ComesBackAndOneTokenIsLeft) {
  RunUntil(300 * kMs);
  ASSERT_TRUE(memory_.Enter(1, 1));
  memory_.Leave(0, 1);
  memory_.Leave(1, 0);
  for (int i = 0; i < 4; ++i) Poll((310 + i) * kMs);
  EXPECT_GE(turnstile_.stats().swallowed, 1u);
  ASSERT_NO_FATAL_FAILURE(HoldAgain(320 * kMs));
  EXPECT_FALSE(memory_.Enter(1, 2));
}

// Without polls, the machine stood still, or the daemon was stopped or throttled. The holder may have stood
// still as well, so this time does not count against it.
TEST_F(StuckHolderTest, ThatTheArbiterDidNotPollIsNotHeldAgainstIt) {
  RunUntil(100 * kMs);
  Poll(1100 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 1));
  RunUntil(1195 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 1));
  RunUntil(1210 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 1)) << "but two hundred in which it was seen to hold are enough";
}

// Two GPUs let in different jobs. The holder on the other GPU waits for its rank here, and the holder here
// waits for its rank there.
TEST_F(StuckHolderTest, WhoGoesFirstIsSuspendedLaterWhereTurnsLast) {
  turnstile_.SetTurnsLast(true);
  RunUntil(300 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 1)) << "on the other GPU 0 is let in";
  turnstile_.SetOrder(0, 2);
  Poll(301 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 1));
}

TEST_F(StuckHolderTest, WhoGoesFirstIsSuspendedInTheEndWhereTurnsLast) {
  turnstile_.SetTurnsLast(true);
  RunUntil(399 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 1));
  RunUntil(400 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 1));
}

TEST_F(StuckHolderTest, OnlyOneTurnIsTakenBesideItWhereTurnsLast) {
  turnstile_.SetTurnsLast(true);
  RunUntil(400 * kMs);
  ASSERT_TRUE(memory_.Enter(1, 1));
  Poll(410 * kMs);
  EXPECT_EQ(turnstile_.successor(1, FirstStretch(1)), 0u) << "it is back before this turn's release is read";
  memory_.Leave(1, 0);
  memory_.Ask(1, 2);
  for (int i = 0; i < 4; ++i) Poll((415 + i) * kMs);
  EXPECT_FALSE(memory_.Enter(1, 2)) << "its turn is the stuck one's own";
  memory_.Leave(0, 1);
  EXPECT_TRUE(memory_.Enter(1, 2));
}

// The clients take turns without a gap, as in time-slices. No poll sees a client between two of its turns.
TEST_F(StuckHolderTest, ComesBackToOneThatPassesToItself) {
  RunUntil(300 * kMs);
  ASSERT_TRUE(memory_.Enter(1, 1));
  std::uint32_t turn[] = {2, 1};
  bool holds[] = {true, true};
  const auto next = [&](SlotIndex slot) {
    if (holds[slot]) {
      memory_.Leave(slot, turnstile_.successor(slot, FirstStretch(turn[slot])));
      memory_.Ask(slot, ++turn[slot]);
    }
    holds[slot] = memory_.Enter(slot, turn[slot]);
  };
  Time now = 300 * kMs;
  const auto poll = [&] {
    for (int i = 0; i < 4; ++i) Poll(now += kMs);
  };
  poll();
  for (int i = 0; i < 3; ++i) {
    next(1);
    poll();
    ASSERT_TRUE(holds[1]) << "it has no successor to pass to";
  }
  for (int i = 0; i < 3; ++i) {
    for (const SlotIndex slot : {0u, 1u}) {
      next(slot);
      poll();
    }
  }
  EXPECT_NE(holds[0], holds[1]) << "a second token";
}

TEST_F(StuckHolderTest, IsNamedTheSecondTimeAndItsLongTurnsAreNotLearned) {
  RunUntil(300 * kMs);
  EXPECT_EQ(turnstile_.offenders().Count(), 0);
  ASSERT_NO_FATAL_FAILURE(BothGiveBack());
  ASSERT_NO_FATAL_FAILURE(HoldAgain(320 * kMs));
  RunUntil(530 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 2));
  EXPECT_TRUE(turnstile_.offenders().Has(0));

  constexpr Time kForgive = WatchdogSettings{}.forgive;
  Poll(500 * kMs + kForgive);
  EXPECT_TRUE(turnstile_.offenders().Has(0));
  Poll(530 * kMs + kForgive);
  EXPECT_FALSE(turnstile_.offenders().Has(0)) << "tried again";
}

// Turns stop for a while when the guard tries side by side, a third job comes, or a mode is switched.
TEST_F(StuckHolderTest, IsWatchedAgainWhereTurnsBeginAnewInItsTurn) {
  RunUntil(300 * kMs);
  ASSERT_TRUE(memory_.Enter(1, 1));
  for (const SlotIndex slot : {0u, 1u}) turnstile_.SetGated(slot, false);
  memory_.Leave(1, 1);
  Poll(400 * kMs);
  for (const SlotIndex slot : {0u, 1u}) turnstile_.SetGated(slot, true);
  Poll(410 * kMs);
  RunUntil(420 * kMs);  // the token that the other has left with itself is taken back
  memory_.Ask(1, 2);
  RunUntil(590 * kMs);
  EXPECT_FALSE(memory_.Enter(1, 2)) << "its bound begins anew, too";
  RunUntil(900 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 2));
  EXPECT_TRUE(turnstile_.offenders().Has(0));
}

// Three clients form a ring, and two of them have a token. No poll sees a token at an open gate, because a
// client takes each one at once.
TEST_F(TurnstileTest, TokensThatFollowEachOtherMerge) {
  constexpr SlotIndex kCount = 3;
  turnstile_.Join(2, 2);
  turnstile_.SetGated(2, true);
  std::uint32_t turn[kCount] = {};
  bool holds[kCount] = {};
  const auto ask = [&](SlotIndex slot) { memory_.Ask(slot, ++turn[slot]); };
  const auto enter = [&] {
    for (SlotIndex slot = 0; slot < kCount; ++slot)
      holds[slot] = holds[slot] || memory_.Enter(slot, turn[slot]);
  };
  for (SlotIndex slot = 0; slot < kCount; ++slot) ask(slot);
  memory_.Set(0, Word::kGate, LastStretch(FirstStretch(1)));
  memory_.Set(2, Word::kGate, LastStretch(FirstStretch(1)));
  enter();
  ASSERT_TRUE(holds[0] && !holds[1] && holds[2]);
  Time now = kMs;
  const auto poll = [&] {
    for (int i = 0; i < 4; ++i) Poll(now += kMs);
  };
  poll();
  // The client that was let in first ends first.
  for (SlotIndex i = 0; i < 30; ++i) {
    const SlotIndex slot = (2 * i) % kCount;
    if (!holds[slot]) continue;
    holds[slot] = false;
    memory_.Leave(slot, turnstile_.successor(slot, FirstStretch(turn[slot])));
    ask(slot);
    enter();
    poll();
    enter();
  }
  EXPECT_EQ(holds[0] + holds[1] + holds[2], 1);
}

TEST_F(TurnstileTest, ATokenWithoutAnExpectedClientWaitsForWhoGoesFirst) {
  Turnstile turnstile;
  PlainMemory memory;
  turnstile.Join(0, 1);
  turnstile.Join(1, 0);
  for (const SlotIndex slot : {0u, 1u}) turnstile.SetGated(slot, true);
  turnstile.Poll(memory, 0);
  memory.Ask(0, 1);
  memory.Ask(1, 1);
  EXPECT_FALSE(memory.Enter(0, 1));
  EXPECT_TRUE(memory.Enter(1, 1)) << "whatever its slot is";
}

// The turnstile cannot know how long a newcomer's turns are.
TEST_F(TurnstileTest, TheFirstTurnMayBeLongAndIsLearned) {
  memory_.Ask(0, 1);
  Poll(0);
  ASSERT_TRUE(memory_.Enter(0, 1));
  memory_.Ask(1, 1);
  Poll(1 * kMs);
  RunUntil(300 * kMs);
  EXPECT_EQ(turnstile_.stats().opened, 1u) << "the other need not wait for it";
  memory_.Leave(0, 1);
  Poll(501 * kMs);
  EXPECT_EQ(turnstile_.policy().timing(0).longest_turn(), 500 * kMs);
  EXPECT_EQ(turnstile_.offenders().Count(), 0);
}

TEST_F(TurnstileTest, ALongTurnThatKeepsNoClientWaitingBreaksNoRule) {
  memory_.Ask(0, 1);
  Poll(0);
  ASSERT_TRUE(memory_.Enter(0, 1));
  RunUntil(1000 * kMs);
  EXPECT_EQ(turnstile_.stats().opened, 0u);
  memory_.Ask(1, 1);
  RunUntil(1001 * kMs);
  EXPECT_EQ(turnstile_.stats().opened, 1u) << "the control: a client waits";
}

TEST_F(TurnstileTest, TheFirstLongTurnIsNotHeldAgainstANewcomer) {
  memory_.Ask(0, 1);
  Poll(0);
  ASSERT_TRUE(memory_.Enter(0, 1));
  memory_.Ask(1, 1);
  RunUntil(300 * kMs);
  ASSERT_EQ(turnstile_.stats().opened, 1u);
  ASSERT_TRUE(memory_.Enter(1, 1));
  memory_.Leave(1, 1);
  memory_.Leave(0, 1);
  RunUntil(310 * kMs);  // its turns are of 310 ms, and four times that is its bound
  std::uint32_t turn = 2;
  const auto overrun = [&](Time begin) {
    memory_.Ask(0, turn);
    RunUntil(begin + kMs);
    ASSERT_TRUE(memory_.Enter(0, turn));
    memory_.Ask(1, turn);
    RunUntil(begin + 1300 * kMs);
    ASSERT_TRUE(memory_.Enter(1, turn));
    memory_.Leave(1, 1);
    memory_.Leave(0, 1);
    RunUntil(begin + 1310 * kMs);
    ++turn;
  };
  ASSERT_NO_FATAL_FAILURE(overrun(320 * kMs));
  EXPECT_EQ(turnstile_.stats().opened, 2u);
  EXPECT_FALSE(turnstile_.offenders().Has(0)) << "the second long turn is its first offence";
  ASSERT_NO_FATAL_FAILURE(overrun(2000 * kMs));
  EXPECT_TRUE(turnstile_.offenders().Has(0)) << "and the third its second";
}

TEST_F(TurnstileTest, AHolderIsLookedAtFiftyTimesInATurn) {
  const auto next_look = [&](std::uint32_t turn, Time begin, Time length) {
    memory_.Ask(0, turn);
    Poll(begin);
    EXPECT_TRUE(memory_.Enter(0, turn));
    const Time wait = Poll(begin) - begin;
    Poll(begin + length);
    memory_.Leave(0, 0);
    Poll(begin + length);
    return wait;
  };
  const Settings settings;
  EXPECT_EQ(next_look(1, 0, 20 * kMs), settings.poll_held_min) << "nothing is known of its turns";
  EXPECT_EQ(next_look(2, 100 * kMs, 20 * kMs), 20 * kMs / 50);
  EXPECT_EQ(Poll(130 * kMs), 130 * kMs + settings.poll_idle) << "no client holds";
  for (std::uint32_t turn = 3; turn < 20; ++turn) next_look(turn, turn * 1000 * kMs, 900 * kMs);
  EXPECT_EQ(next_look(20, 20'000 * kMs, 900 * kMs), settings.poll_held_max);
}

TEST_F(StuckHolderTest, OneLongTurnIsForgottenAfterAWhile) {
  constexpr Time kForgive = WatchdogSettings{}.forgive;
  RunUntil(300 * kMs);
  ASSERT_NO_FATAL_FAILURE(BothGiveBack());
  const Time later = kForgive + 320 * kMs;
  ASSERT_NO_FATAL_FAILURE(HoldAgain(later));
  RunUntil(later + 300 * kMs);
  EXPECT_EQ(turnstile_.stats().opened, 2u);
  EXPECT_EQ(turnstile_.offenders().Count(), 0);
}

TEST_F(TurnstileTest, WaitsOfAClientThatTakesNoTurnsAreOpenedAgainAndAgain) {
  memory_.Ask(0, 1);
  Poll(0);
  ASSERT_TRUE(memory_.Enter(0, 1));
  memory_.Ask(1, 1);
  turnstile_.SetGated(0, false);
  turnstile_.SetGated(1, false);
  EXPECT_NE(Poll(1 * kMs), kNever);
  EXPECT_TRUE(memory_.Enter(1, 1));
  memory_.Leave(1, 0);
  memory_.Ask(1, 2);
  memory_.Set(1, Word::kGate, FirstStretch(1));  // a late write shuts it
  Poll(2 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 2));
}

// Between two turns of its slice a client asks for nothing for some microseconds.
TEST_F(TurnstileTest, ASliceIsNotBrokenBetweenItsTurns) {
  turnstile_.SetTurnsLast(true);
  turnstile_.AllowSlices(true);
  ASSERT_NO_FATAL_FAILURE(EndATurnWhileOneWaits());
  EXPECT_FALSE(memory_.Enter(1, 1));
  memory_.Ask(0, 2);
  EXPECT_TRUE(memory_.Enter(0, 2));
  RunUntil(40 * kMs);
  memory_.Leave(0, 0);
  RunUntil(180 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 1)) << "one that does not come loses its slice";
}

TEST_F(TurnstileTest, WithoutSlicesATokenThatIsKeptGoesToOneThatWaits) {
  turnstile_.SetTurnsLast(true);
  ASSERT_NO_FATAL_FAILURE(EndATurnWhileOneWaits());
  EXPECT_TRUE(memory_.Enter(1, 1));
}

// In time-slices the longest turn of all clients sets the watchdog's bound.
TEST_F(TurnstileTest, ATurnThatWasHeldWhileNoneTookTurnsIsNotLearned) {
  turnstile_.SetTurnsLast(true);
  for (TurnNumber k = 1; k <= 4; ++k) {
    memory_.Ask(0, k);
    RunUntil(k * 100 * kMs);
    ASSERT_TRUE(memory_.Enter(0, k));
    RunUntil(k * 100 * kMs + 20 * kMs);
    memory_.Leave(0, 0);
  }
  memory_.Ask(0, 5);
  RunUntil(500 * kMs);
  ASSERT_TRUE(memory_.Enter(0, 5));
  RunUntil(505 * kMs);
  turnstile_.SetGated(0, false);
  turnstile_.SetGated(1, false);
  memory_.Leave(0, 0);
  memory_.Ask(0, 6);
  ASSERT_TRUE(memory_.Enter(0, 6));
  Poll(4000 * kMs);
  for (const SlotIndex slot : {0u, 1u}) turnstile_.SetGated(slot, true);
  RunUntil(4010 * kMs);
  memory_.Leave(0, 0);
  RunUntil(4020 * kMs);
  EXPECT_LE(turnstile_.policy().timing(0).longest_turn(), 21 * kMs);
  EXPECT_LE(turnstile_.policy().timing(0).gap(), 100 * kMs);
  memory_.Ask(0, 7);
  RunUntil(4030 * kMs);
  ASSERT_TRUE(memory_.Enter(0, 7));
  memory_.Ask(1, 1);
  RunUntil(4450 * kMs);
  EXPECT_TRUE(memory_.Enter(1, 1)) << "a holder that is stuck is gone round within twice the floor";
}

TEST_F(TurnstileTest, SleepsWhileNoneTakesTurns) {
  turnstile_.SetGated(0, false);
  turnstile_.SetGated(1, false);
  EXPECT_EQ(Poll(1 * kMs), kNever);
}

TEST_F(TurnstileTest, EventsTellTheStoryOnce) {
  memory_.Ask(0, 1);
  Poll(1 * kMs);
  (void)turnstile_.TakeEvents();
  ASSERT_TRUE(memory_.Enter(0, 1));
  Poll(2 * kMs);
  const auto events = turnstile_.TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Event::Kind::kHold);
  EXPECT_EQ(events[0].slot, 0u);
  EXPECT_EQ(events[0].duration, 1 * kMs);
  Poll(3 * kMs);
  EXPECT_TRUE(turnstile_.TakeEvents().empty());
}

}  // namespace
}  // namespace crossover::turn::test
