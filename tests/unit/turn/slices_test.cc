#include "turn/slices.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/turn/client_words.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

// Returns the iterations whose turns end a slice, of those from `from` up to `to`.
std::vector<std::uint32_t> EndsOf(Slice slice, std::uint32_t from, std::uint32_t to, std::uint32_t bits) {
  std::vector<std::uint32_t> ends;
  for (std::uint32_t iteration = from; iteration != to; ++iteration) {
    if (slice.Ends(iteration, bits)) ends.push_back(iteration);
  }
  return ends;
}

// Returns a slice that has gone on since a turn in the first iteration, with the length of 2^`bits`.
Slice Begun(std::uint32_t bits) {
  Slice slice;
  for (std::uint32_t iteration = 1; iteration <= 1u << bits; ++iteration) slice.Ends(iteration, bits);
  return slice;
}

TEST(SliceTest, EndsAtMultiplesOfItsLength) {
  EXPECT_EQ(EndsOf(Begun(4), 17, 50, 4), (std::vector<std::uint32_t>{32, 48}));
  EXPECT_EQ(EndsOf(Begun(4), 17, 20, 0), (std::vector<std::uint32_t>{17, 18, 19}));
}

// Ranks begin to take turns some iterations apart. Until all have turns, none may keep the GPU for long.
TEST(SliceTest, BeginsWithSingleTurns) {
  EXPECT_EQ(EndsOf({}, 9, 40, 4), (std::vector<std::uint32_t>{9, 10, 11, 12, 13, 14, 15, 16, 32}));
  EXPECT_EQ(EndsOf({}, 10, 40, 4), (std::vector<std::uint32_t>{10, 11, 12, 13, 14, 15, 16, 32}));
  EXPECT_EQ(EndsOf({}, 14, 40, 4).size(), 40u - 14 - 7) << "two turns are too few, so it begins at 32";
}

TEST(SliceTest, EndsAtTheSameIterationWhereverTurnsBegan) {
  for (std::uint32_t from = 33; from <= 60; ++from) {
    EXPECT_EQ(EndsOf({}, from, 130, 5).size(), 64 - from + 1 + 2) << from;
  }
}

TEST(SliceTest, EndsOnceWhereAnIterationHasSeveralTurns) {
  Slice slice = Begun(4);
  std::vector<int> ends;
  for (int turn = 3 * 17; turn < 3 * 34; ++turn) {
    if (slice.Ends(static_cast<std::uint32_t>(turn / 3), 4)) ends.push_back(turn);
  }
  EXPECT_EQ(ends, std::vector<int>{3 * 32}) << "not with each of its three turns";
}

TEST(SliceTest, EndsAtTheNextTurnWhereTheMultipleHadNone) {
  Slice slice = Begun(4);
  EXPECT_FALSE(slice.Ends(31, 4));
  EXPECT_TRUE(slice.Ends(34, 4));
  EXPECT_FALSE(slice.Ends(35, 4));
}

TEST(SliceTest, NumbersWrap) {
  EXPECT_EQ(EndsOf({}, 0xfffffffau, 20, 4),
            (std::vector<std::uint32_t>{0xfffffffau, 0xfffffffbu, 0xfffffffcu, 0xfffffffdu, 0xfffffffeu,
                                        0xffffffffu, 0, 16}));
}

TEST(SliceTest, AfterAPauseItBeginsAnew) {
  Slice slice = Begun(4);
  EXPECT_FALSE(slice.Ends(19, 4));
  slice.Forget();
  EXPECT_TRUE(slice.Ends(20, 4)) << "other ranks may have gone on at 21";
  EXPECT_TRUE(slice.Ends(21, 4));
  EXPECT_TRUE(slice.Ends(32, 4));
  EXPECT_FALSE(slice.Ends(33, 4));
}

// Any client may write over the length: nothing makes a slice that never ends.
TEST(SliceTest, ALengthThatNoArbiterWritesMeansNone) {
  for (const std::uint32_t bits : {7u, 31u, 32u, 0xffffffffu}) {
    EXPECT_EQ(EndsOf({}, 5, 8, bits), (std::vector<std::uint32_t>{5, 6, 7})) << bits;
  }
}

class SlicesTest : public ::testing::Test {
 protected:
  void SetUp() override { slices_.Allow(true); }
  // Two clients have a slice each, with a stuck turn in it if `stuck`.
  void Round(bool stuck) {
    for (const SlotIndex slot : {0u, 1u}) {
      for (std::uint32_t i = 0; i < kSliceIterations; ++i) {
        slices_.SeeTurn(slot, iteration_ + i);
        if (stuck && i == 1) slices_.SeeStuck(slot, iteration_ + i);
      }
    }
    iteration_ += kSliceIterations;
  }
  Slices slices_;
  std::uint32_t iteration_ = 0;
};

TEST_F(SlicesTest, AreOnlyWhereTheyAreAllowed) {
  EXPECT_TRUE(slices_.on());
  slices_.Allow(false);
  EXPECT_FALSE(slices_.on());
}

TEST_F(SlicesTest, TurnsThatAreStuckInSliceAfterSliceEndThem) {
  Round(true);
  EXPECT_TRUE(slices_.on()) << "two of them are the start of two GPUs that let in different jobs";
  Round(true);
  EXPECT_EQ(slices_.ended(), Slices::Reason::kStuck);
  for (int i = 0; i < 10; ++i) Round(false);
  EXPECT_FALSE(slices_.on()) << "they would be on at another time on another GPU";
  slices_.Reset();
  EXPECT_TRUE(slices_.on());
}

TEST_F(SlicesTest, AStuckTurnNowAndThenDoesNot) {
  for (int i = 0; i < 20; ++i) Round(i % 3 == 0);
  EXPECT_TRUE(slices_.on());
}

TEST_F(SlicesTest, ATurnThatIsStuckForLongCountsOnce) {
  for (int poll = 0; poll < 100; ++poll) slices_.SeeStuck(0, 7);
  EXPECT_TRUE(slices_.on());
}

// The others would wait for minutes.
TEST_F(SlicesTest, LongTurnsEndThem) {
  slices_.SeeEnd(0, 2000 * kMs);
  EXPECT_TRUE(slices_.on()) << "one may have waited for another GPU";
  slices_.SeeEnd(0, 20 * kMs);
  slices_.SeeEnd(0, 2000 * kMs);
  EXPECT_TRUE(slices_.on());
  slices_.SeeEnd(0, 2000 * kMs);
  EXPECT_EQ(slices_.ended(), Slices::Reason::kLong);
}

TEST_F(SlicesTest, GoesOnWhileItsClientHasHandedTheTokenToItself) {
  ClientWords words = Idle(4);
  words.gate = FirstStretch(5);
  EXPECT_TRUE(slices_.GoesOn(0, words, false, 10 * kMs));
  EXPECT_FALSE(slices_.GoesOn(0, words, true, 10 * kMs)) << "the arbiter has parked the token there";
  EXPECT_TRUE(slices_.GoesOn(0, words, false, 100 * kMs));
  EXPECT_FALSE(slices_.GoesOn(0, words, false, 111 * kMs)) << "it does not come";
  words = Idle(5);
  EXPECT_FALSE(slices_.GoesOn(0, words, false, 112 * kMs)) << "its gate is shut";
  words.gate = FirstStretch(6);
  EXPECT_TRUE(slices_.GoesOn(0, words, false, 113 * kMs)) << "it has had a turn since";
  words.gate = OpenFor(1, FirstStretch(3), 0, words.ready);
  EXPECT_TRUE(slices_.GoesOn(0, words, false, 114 * kMs)) << "another client has handed over to it";
}

}  // namespace
}  // namespace crossover::turn::test
