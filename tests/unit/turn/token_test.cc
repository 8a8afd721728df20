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
  const std::uint32_t open = OpenFor(0, 7, 1, 41);
  EXPECT_TRUE(AtOrPast(open, 41));
  EXPECT_TRUE(AtOrPast(open, 1'000'000));
  EXPECT_FALSE(AtOrPast(41, 42));
  EXPECT_NE(OpenFor(0, 7, 1, 41), OpenFor(0, 8, 1, 41));
  EXPECT_NE(OpenFor(0, 7, 2, 41), OpenFor(1, 7, 2, 41));
}

TEST(Ops, TurnNumbersWrap) {
  const TurnNumber last = 0xffffffffu;
  EXPECT_TRUE(AtOrPast(OpenFor(0, 3, 1, last), 0));
  EXPECT_TRUE(AtOrPast(0, last));
  EXPECT_FALSE(AtOrPast(last, 0));
  EXPECT_EQ(OpenFor(2, last, 2, 5), 0u);
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
  memory.Leave(0, 1, 1);
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

TEST(Token, WordsThatNoHonestClientWritesKeepNobodyWaiting) {
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
