#include "turn/timing_model.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/turn/client_words.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

void LiveOneTurn(TimingModel* timing, std::uint32_t k, Time begin, Time end) {
  timing->Watch(Waiting(k), begin);
  timing->Watch(Holding(k), begin);
  timing->Watch(Idle(k), end);
}

TEST(TimingModel, KnowsNothingAtFirst) {
  const TimingModel timing;
  EXPECT_EQ(timing.turn(), kNever);
  EXPECT_EQ(timing.longest_turn(), kNever);
  EXPECT_EQ(timing.next_arrival(), kNever);
  EXPECT_FALSE(timing.KeepsAfter(FirstStretch(1)));
}

TEST(TimingModel, TellsWhatChanged) {
  TimingModel timing;
  EXPECT_TRUE(timing.Watch(Waiting(1), 1 * kMs).arrived);
  const TimingModel::Change in = timing.Watch(Holding(1), 4 * kMs);
  EXPECT_TRUE(in.held);
  EXPECT_EQ(in.waited, 3 * kMs);
  const TimingModel::Change out = timing.Watch(Idle(1), 24 * kMs);
  EXPECT_TRUE(out.released);
  EXPECT_EQ(out.turn, 20 * kMs);
}

TEST(TimingModel, UnequalTurnsAreLearnedApart) {
  TimingModel timing;
  timing.SetTurns(2);
  LiveOneTurn(&timing, 1, 0, 2 * kMs);
  LiveOneTurn(&timing, 2, 3 * kMs, 21 * kMs);
  LiveOneTurn(&timing, 3, 40 * kMs, 42 * kMs);
  EXPECT_EQ(timing.turn(), 2 * kMs);
  EXPECT_EQ(timing.gap(), 1 * kMs);
  EXPECT_EQ(timing.longest_turn(), 18 * kMs);
  LiveOneTurn(&timing, 4, 43 * kMs, 61 * kMs);
  EXPECT_EQ(timing.turn(), 18 * kMs);
  EXPECT_EQ(timing.gap(), 19 * kMs);
}

TEST(TimingModel, AnotherNumberOfTurnsIsLearnedAnew) {
  TimingModel timing;
  LiveOneTurn(&timing, 1, 0, 2 * kMs);
  timing.NoteNextIsOwn(true);
  timing.SetTurns(1);
  EXPECT_TRUE(timing.KeepsAfter(FirstStretch(2))) << "nothing new was said";
  timing.SetTurns(3);
  EXPECT_EQ(timing.turn(), kNever);
  EXPECT_FALSE(timing.KeepsAfter(FirstStretch(1)));
}

TEST(TimingModel, NumbersOutOfRangeCountAsOne) {
  TimingModel timing;
  for (const std::uint32_t turns : {0u, kMaxTurns + 1, 0xffffffffu}) {
    timing.SetTurns(turns);
    LiveOneTurn(&timing, 1, 0, 2 * kMs);
    EXPECT_EQ(timing.turn(), 2 * kMs);
    timing = TimingModel();
  }
}

// An iteration has forty turns: twenty of 2 ms, as in a forward pass, and then twenty of 4 ms. After each
// turn the client is away for 1 ms, and after the last one for 11 ms.
TEST(TimingModel, TurnsWithoutPositionsOfTheirOwnMakeAnIterationTogether) {
  TimingModel timing;
  timing.SetTurns(40);
  EXPECT_EQ(timing.turns(), 1u);
  EXPECT_EQ(timing.turns_of_a_position(), 40u);
  Time now = 0;
  // It is watched from the middle of an iteration on.
  for (std::uint32_t turn = 1; turn <= 400; ++turn) {
    const std::uint32_t place = (turn + 10) % 40;
    const Time length = (place < 20 ? 2 : 4) * kMs;
    LiveOneTurn(&timing, turn, now, now + length);
    now += length + (place == 39 ? 11 : 1) * kMs;
    EXPECT_EQ(timing.busy(), turn < 40 ? kNever : 120 * kMs) << "a part of an iteration says nothing";
    EXPECT_EQ(timing.away(), turn <= 40 ? kNever : 50 * kMs);
    EXPECT_EQ(timing.settled(), turn >= 80);
  }
  EXPECT_TRUE(timing.settled());
  EXPECT_LT(timing.jitter(), 0) << "unequal turns say nothing about iterations";
  timing.SetTurns(0xffffffffu);
  EXPECT_EQ(timing.busy(), kNever) << "another number of turns is learned anew";
  for (std::uint32_t turn = 401; turn < 1430; ++turn) {
    LiveOneTurn(&timing, turn, now, now + 2 * kMs);
    now += 3 * kMs;
  }
  EXPECT_EQ(timing.busy(), 1024 * 2 * kMs) << "a client may say anything";
}

TEST(TimingModel, ATurnToBeDisregardedIsNotLearned) {
  TimingModel timing;
  LiveOneTurn(&timing, 1, 0, 20 * kMs);
  timing.Watch(Waiting(2), 30 * kMs);
  timing.Watch(Holding(2), 30 * kMs);
  timing.Disregard();
  timing.Watch(Idle(2), 900 * kMs);
  EXPECT_EQ(timing.turn(), 20 * kMs);
}

TEST(TimingModel, ATurnThatStandsWhenItIsWatchedAgainBeginsThen) {
  TimingModel timing;
  LiveOneTurn(&timing, 1, 0, 20 * kMs);
  timing.Watch(Waiting(2), 30 * kMs);
  timing.Watch(Holding(2), 30 * kMs);
  timing.Pause();
  const TimingModel::Change in = timing.Watch(Holding(2), 900 * kMs);
  EXPECT_TRUE(in.held);
  EXPECT_EQ(in.waited, 0);
  EXPECT_EQ(timing.held(), 900 * kMs);
  EXPECT_FALSE(timing.Watch(Holding(2), 901 * kMs).held) << "once";
  EXPECT_TRUE(timing.Watch(Idle(2), 910 * kMs).released);
  EXPECT_EQ(timing.turn(), 20 * kMs) << "how long it was in all is unknown";
}

TEST(TimingModel, AWaitThatStandsWhenItIsWatchedAgainBeginsThen) {
  TimingModel timing;
  timing.Watch(Waiting(1), 30 * kMs);
  timing.Pause();
  EXPECT_TRUE(timing.Watch(Waiting(1), 900 * kMs).arrived);
  EXPECT_EQ(timing.arrived(), 900 * kMs);
  EXPECT_FALSE(timing.Watch(Waiting(1), 901 * kMs).arrived) << "once";
}

// Returns the timing of a client whose turns had these lengths, 5 ms apart.
TimingModel AfterTurns(const std::vector<Time>& lengths, std::uint32_t turns = 1) {
  TimingModel timing;
  timing.SetTurns(turns);
  Time now = 0;
  for (std::uint32_t k = 0; k < lengths.size(); ++k) {
    LiveOneTurn(&timing, k + 1, now, now + lengths[k]);
    now += lengths[k] + 5 * kMs;
  }
  return timing;
}

TEST(TimingModel, JitterIsTheSpreadOfComputeOverItsLength) {
  std::vector<Time> lengths;
  for (int i = 0; i < 64; ++i) lengths.push_back((i % 2 == 0 ? 18 : 22) * kMs);
  EXPECT_NEAR(AfterTurns(lengths).jitter(), 0.1, 0.01);
  EXPECT_EQ(AfterTurns(std::vector<Time>(64, 20 * kMs)).jitter(), 0);
}

TEST(TimingModel, JitterIsUnknownAfterFewTurns) {
  EXPECT_LT(TimingModel().jitter(), 0);
  EXPECT_LT(AfterTurns(std::vector<Time>(7, 20 * kMs)).jitter(), 0);
  EXPECT_EQ(AfterTurns(std::vector<Time>(8, 20 * kMs)).jitter(), 0);
  EXPECT_LT(AfterTurns(std::vector<Time>(15, 20 * kMs), 2).jitter(), 0);
}

TEST(TimingModel, JitterIsOfTheIterationWhateverItsTurnsAreLike) {
  std::vector<Time> lengths;  // 2 and 18 ms each time: unequal turns are no jitter
  for (int i = 0; i < 64; ++i) lengths.push_back((i % 2 == 0 ? 2 : 18) * kMs);
  EXPECT_EQ(AfterTurns(lengths, 2).jitter(), 0);
  for (std::size_t i = 1; i < lengths.size(); i += 4) lengths[i] += 4 * kMs;  // 18 and 22 ms by turns
  EXPECT_NEAR(AfterTurns(lengths, 2).jitter(), 2.0 / 22, 0.01);
}

// Returns whether the second turn of an iteration is brief beside another client's turn of `length`. The
// second turn takes `turn`, and `gap` follows it.
bool IsBrief(Time turn, Time gap, Time length) {
  TimingModel timing;
  timing.SetTurns(2);
  Time now = 0;
  for (std::uint32_t k = 1; k <= 6; k += 2) {
    LiveOneTurn(&timing, k, now, now + 20 * kMs);
    LiveOneTurn(&timing, k + 1, now + 25 * kMs, now + 25 * kMs + turn);
    now += 25 * kMs + turn + gap;
  }
  return timing.Brief(PositionOf(FirstStretch(2), 2), length);
}

TEST(TimingModel, AFewKernelsBeforeALongAbsenceAreBrief) {
  EXPECT_TRUE(IsBrief(2 * kMs, 15 * kMs, 20 * kMs));
  EXPECT_TRUE(IsBrief(4 * kMs, 15 * kMs, 20 * kMs));
  EXPECT_FALSE(IsBrief(4 * kMs + 1, 15 * kMs, 20 * kMs)) << "more than a fifth of the other's turn";
  EXPECT_TRUE(IsBrief(kMs, 10 * kMs, 40 * kMs));
  EXPECT_FALSE(IsBrief(kMs, 10 * kMs - 1, 40 * kMs)) << "an absence of less than a quarter of it";
  EXPECT_TRUE(IsBrief(kMs, 5 * kMs, 8 * kMs));
  EXPECT_FALSE(IsBrief(kMs, 5 * kMs - 1, 8 * kMs)) << "an absence in which nothing fits";
}

TEST(TimingModel, TheOnlyTurnOfAnIterationIsNeverBrief) {
  const TimingModel timing = AfterTurns(std::vector<Time>(4, kMs));
  EXPECT_EQ(timing.gap(), 5 * kMs);
  EXPECT_FALSE(timing.Brief(0, 8 * kMs));
}

TEST(TimingModel, ATurnToBeDisregardedIsNoJitter) {
  TimingModel timing = AfterTurns(std::vector<Time>(20, 20 * kMs));
  timing.Watch(Waiting(21), 1000 * kMs);
  timing.Watch(Holding(21), 1000 * kMs);
  timing.Disregard();
  timing.Watch(Idle(21), 1900 * kMs);
  EXPECT_EQ(timing.jitter(), 0);
}

}  // namespace
}  // namespace crossover::turn::test
