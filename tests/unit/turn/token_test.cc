#include "turn/token.h"

#include <gtest/gtest.h>

#include "tests/unit/turn/plain_memory.h"

namespace crossover::turn::test {
namespace {

constexpr SlotSet kBoth(0b11);

Token::Report Step(Token& token, PlainMemory& memory, SlotIndex want, SlotSet members = kBoth) {
  Snapshot seen;
  Collect(memory, members, &seen);
  return token.Step(memory, members, seen, want);
}

TEST(Ops, AnOpenGateLetsAnyTurnNearPassAndTheOwnerShutsIt) {
  const TurnNumber asked = FirstStretch(41);
  const std::uint32_t open = OpenFor(0, FirstStretch(7), 1, asked);
  EXPECT_TRUE(AtOrPast(open, asked));
  EXPECT_TRUE(AtOrPast(open, FirstStretch(1'000'000)));
  EXPECT_FALSE(AtOrPast(LastStretch(asked), NextTurn(asked)));
  EXPECT_NE(OpenFor(0, FirstStretch(7), 1, asked), OpenFor(0, FirstStretch(8), 1, asked));
  EXPECT_NE(OpenFor(0, FirstStretch(7), 2, asked), OpenFor(1, FirstStretch(7), 2, asked));
}

TEST(Ops, TurnNumbersWrap) {
  const TurnNumber last = FirstStretch(0xffffffffu);
  EXPECT_EQ(NextTurn(last), 0u);
  EXPECT_TRUE(AtOrPast(OpenFor(0, FirstStretch(3), 1, last), 0));
  EXPECT_TRUE(AtOrPast(0, last));
  EXPECT_FALSE(AtOrPast(last, 0));
  EXPECT_EQ(OpenFor(2, last, 2, FirstStretch(5)), 0u);
}

TEST(Ops, ATurnHasManyStretchesAndGoesOnAsTheNextWhenTheyAreUsedUp) {
  const TurnNumber first = FirstStretch(5);
  EXPECT_EQ(NextStretch(first), first + 1);
  EXPECT_EQ(NextTurn(first + 7), FirstStretch(6));
  EXPECT_EQ(PositionOf(first + 7, 4), PositionOf(first, 4));
  TurnNumber k = first;
  while (NextTurn(k) != NextStretch(k)) k = NextStretch(k);
  EXPECT_EQ(LastStretch(k), LastStretch(first));
  EXPECT_TRUE(AtOrPast(LastStretch(first), k));
  EXPECT_FALSE(AtOrPast(LastStretch(first), NextStretch(k)));
}

TEST(Token, IsMadeOnceAndGivenToTheWished) {
  PlainMemory memory;
  Token token;
  const Token::Report report = Step(token, memory, 1);
  EXPECT_TRUE(report.minted);
  EXPECT_EQ(report.granted, 1u);
  EXPECT_FALSE(Step(token, memory, 1).minted);
  memory.Ask(0, 1);
  EXPECT_FALSE(memory.Enter(0, 1));
  memory.Ask(1, 1);
  EXPECT_TRUE(memory.Enter(1, 1));
}

TEST(Token, GoesFromHolderToSuccessorWithoutTheArbiter) {
  PlainMemory memory;
  Token token;
  Step(token, memory, 0);
  memory.Ask(0, 1);
  ASSERT_TRUE(memory.Enter(0, 1));
  memory.Ask(1, 1);
  memory.Leave(0, 1);
  EXPECT_TRUE(memory.Enter(1, 1));
  EXPECT_EQ(Step(token, memory, kNobody).granted, kNobody);
}

TEST(Token, ParkedAtAnAbsentClientIsMoved) {
  PlainMemory memory;
  Token token;
  Step(token, memory, 0);
  memory.Ask(1, 1);
  const Token::Report report = Step(token, memory, 1);
  EXPECT_EQ(report.revoked, 0u);
  EXPECT_EQ(report.granted, 1u);
  EXPECT_TRUE(memory.Enter(1, 1));
  memory.Ask(0, 1);
  EXPECT_FALSE(memory.Enter(0, 1));
}

TEST(Token, IsNotTakenFromAClientThatHasArrived) {
  PlainMemory memory;
  Token token;
  Step(token, memory, 0);
  memory.Ask(0, 1);
  memory.Ask(1, 1);
  EXPECT_EQ(Step(token, memory, 1).revoked, kNobody);
  EXPECT_TRUE(memory.Enter(0, 1));
}

TEST(Token, OfADeadHolderIsReplaced) {
  PlainMemory memory;
  Token token;
  Step(token, memory, 0);
  memory.Ask(0, 1);
  ASSERT_TRUE(memory.Enter(0, 1));
  memory.Ask(1, 1);
  const Token::Report report = Step(token, memory, 1, SlotSet(0b10));
  EXPECT_TRUE(report.minted);
  EXPECT_TRUE(memory.Enter(1, 1));
}

TEST(Token, SurplusIsSwallowedInTheSecondStepThatSeesIt) {
  PlainMemory memory;
  Token token;
  Step(token, memory, 0);
  memory.Set(1, Word::kGate, OpenAny(0));
  EXPECT_FALSE(Step(token, memory, kNobody).swallowed);
  EXPECT_TRUE(Step(token, memory, kNobody).swallowed);
  Snapshot seen;
  Collect(memory, kBoth, &seen);
  EXPECT_EQ(Token::Find(seen, kBoth).visible, 1);
}

class PreemptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Step(token_, memory_, 0);
    memory_.Ask(0, 1);
    ASSERT_TRUE(memory_.Enter(0, 1));
    memory_.Ask(1, 1);
  }
  bool Preempt() {
    const ClientWords seen = ReadClient(memory_, 0);
    return Token::Preempt(memory_, 0, seen);
  }
  PlainMemory memory_;
  Token token_;
};

TEST_F(PreemptTest, AHolderPassesItsYieldPointsUnlessItIsPreempted) {
  EXPECT_TRUE(memory_.Yield(0));
  EXPECT_TRUE(memory_.Yield(0));
  Step(token_, memory_, 1);
  EXPECT_FALSE(memory_.Enter(1, 1));
  ASSERT_TRUE(Preempt());
  EXPECT_TRUE(Token::Preempted(ReadClient(memory_, 0)));
  Step(token_, memory_, 1);
  EXPECT_FALSE(memory_.Enter(1, 1)) << "it still computes";
  EXPECT_FALSE(memory_.Yield(0));
  EXPECT_EQ(Step(token_, memory_, 1).granted, 1u);
  EXPECT_TRUE(memory_.Enter(1, 1));
}

TEST_F(PreemptTest, AClientThatHandsOverToItLetsItGoOn) {
  ASSERT_TRUE(Preempt());
  ASSERT_FALSE(memory_.Yield(0));
  Step(token_, memory_, 1);
  ASSERT_TRUE(memory_.Enter(1, 1));
  memory_.Leave(1, 0);
  EXPECT_TRUE(memory_.GoOn(0));
  EXPECT_TRUE(memory_.Yield(0)) << "the next yield points are open again";
  memory_.Ask(1, 2);
  EXPECT_FALSE(memory_.Enter(1, 2));
}

TEST_F(PreemptTest, ATurnThatEndsFirstIsHandedOverAsEver) {
  ASSERT_TRUE(Preempt());
  memory_.Leave(0, 1);
  EXPECT_TRUE(memory_.Enter(1, 1));
  memory_.Ask(0, 2);
  EXPECT_FALSE(memory_.Enter(0, 2));
  memory_.Leave(1, 0);
  EXPECT_TRUE(memory_.Enter(0, 2));
}

TEST_F(PreemptTest, OnlyAHolderWithAGateOfItsOwn) {
  EXPECT_FALSE(Token::Preempt(memory_, 1, ReadClient(memory_, 1))) << "it waits";
  memory_.Set(0, Word::kGate, OpenAny(0));
  EXPECT_FALSE(Preempt()) << "that gate was opened by a second token";
}

TEST(Token, WordsThatNoHonestClientWritesKeepNoClientWaiting) {
  PlainMemory memory;
  Token token;
  memory.Set(0, Word::kReady, 900);
  memory.Set(0, Word::kHold, 17);
  memory.Set(0, Word::kRel, 4'000'000'000u);
  memory.Ask(1, 1);
  for (int i = 0; i < 4; ++i) Step(token, memory, 1);
  EXPECT_TRUE(memory.Enter(1, 1));
}

}  // namespace
}  // namespace crossover::turn::test
