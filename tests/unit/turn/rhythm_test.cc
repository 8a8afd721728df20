#include "turn/rhythm.h"

#include <gtest/gtest.h>

#include "tests/unit/turn/client_words.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

void LiveOneTurn(Rhythm* rhythm, std::uint32_t k, Time begin, Time end) {
  rhythm->Watch(Waiting(k), begin);
  rhythm->Watch(Holding(k), begin);
  rhythm->Watch(Idle(k), end);
}

TEST(Rhythm, KnowsNothingAtFirst) {
  const Rhythm rhythm;
  EXPECT_EQ(rhythm.turn(), kNever);
  EXPECT_EQ(rhythm.longest_turn(), kNever);
  EXPECT_EQ(rhythm.next_arrival(), kNever);
  EXPECT_FALSE(rhythm.KeepsAfter(FirstStretch(1)));
}

TEST(Rhythm, TellsWhatChanged) {
  Rhythm rhythm;
  EXPECT_TRUE(rhythm.Watch(Waiting(1), 1 * kMs).arrived);
  const Rhythm::Change in = rhythm.Watch(Holding(1), 4 * kMs);
  EXPECT_TRUE(in.held);
  EXPECT_EQ(in.waited, 3 * kMs);
  const Rhythm::Change out = rhythm.Watch(Idle(1), 24 * kMs);
  EXPECT_TRUE(out.released);
  EXPECT_EQ(out.turn, 20 * kMs);
}

TEST(Rhythm, UnequalTurnsAreLearnedApart) {
  Rhythm rhythm;
  rhythm.SetTurns(2);
  LiveOneTurn(&rhythm, 1, 0, 2 * kMs);
  LiveOneTurn(&rhythm, 2, 3 * kMs, 21 * kMs);
  LiveOneTurn(&rhythm, 3, 40 * kMs, 42 * kMs);
  EXPECT_EQ(rhythm.turn(), 2 * kMs);
  EXPECT_EQ(rhythm.gap(), 1 * kMs);
  EXPECT_EQ(rhythm.longest_turn(), 18 * kMs);
  LiveOneTurn(&rhythm, 4, 43 * kMs, 61 * kMs);
  EXPECT_EQ(rhythm.turn(), 18 * kMs);
  EXPECT_EQ(rhythm.gap(), 19 * kMs);
}

TEST(Rhythm, AnotherNumberOfTurnsIsLearnedAnew) {
  Rhythm rhythm;
  LiveOneTurn(&rhythm, 1, 0, 2 * kMs);
  rhythm.NoteNextIsOwn(true);
  rhythm.SetTurns(1);
  EXPECT_TRUE(rhythm.KeepsAfter(FirstStretch(2))) << "nothing new was said";
  rhythm.SetTurns(3);
  EXPECT_EQ(rhythm.turn(), kNever);
  EXPECT_FALSE(rhythm.KeepsAfter(FirstStretch(1)));
}

TEST(Rhythm, NumbersNobodyMeansCountAsOne) {
  Rhythm rhythm;
  for (const std::uint32_t turns : {0u, kMaxTurns + 1, 0xffffffffu}) {
    rhythm.SetTurns(turns);
    LiveOneTurn(&rhythm, 1, 0, 2 * kMs);
    EXPECT_EQ(rhythm.turn(), 2 * kMs);
    rhythm = Rhythm();
  }
}

TEST(Rhythm, ATurnToBeDisregardedIsNotLearned) {
  Rhythm rhythm;
  LiveOneTurn(&rhythm, 1, 0, 20 * kMs);
  rhythm.Watch(Waiting(2), 30 * kMs);
  rhythm.Watch(Holding(2), 30 * kMs);
  rhythm.Disregard();
  rhythm.Watch(Idle(2), 900 * kMs);
  EXPECT_EQ(rhythm.turn(), 20 * kMs);
}

}  // namespace
}  // namespace crossover::turn::test
