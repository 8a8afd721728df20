#include "shrink/vote/voter.h"

#include <gtest/gtest.h>

#include <string>

namespace crossover::shrink::vote {
namespace {

class VoterTest : public testing::Test {
 protected:
  using Act = Voter::Act;

  static Verdict Narrow() {
    return {.choice = Choice::kNarrow,
            .rank = 2,
            .codec = Codec::kQ8,
            .level = 8,
            .budget_mib = 60,
            .reason = {}};
  }
  static Verdict Plain(std::uint32_t rank) {
    Verdict verdict;
    verdict.rank = rank;
    verdict.reason = MakeReason("rank 1: expected hello, got no");
    return verdict;
  }
  void SayHello() { EXPECT_EQ(voter_.Hear(Greeting{}).act, Act::kSayHello); }
  void ExpectEnd(const Voter::Step& step, VoterPhase phase, const std::string& reason) {
    EXPECT_EQ(step.act, Act::kNothing);
    EXPECT_EQ(voter_.phase, phase);
    EXPECT_EQ(step.reason.view(), reason);
  }

  const Hello own_{.ranks = 3, .rank = 2, .proposal = {7, Codec::kQ8, 8, 100}};
  Voter voter_{&own_, true};
};

TEST_F(VoterTest, IsNarrowed) {
  SayHello();
  ExpectEnd(voter_.Hear(Narrow()), VoterPhase::kNarrow, "");
  EXPECT_EQ(voter_.budget_mib, 60u);
  Verdict again = Narrow();
  again.budget_mib = 50;
  voter_.Hear(again);
  EXPECT_EQ(voter_.budget_mib, 60u);
}

TEST_F(VoterTest, RunsPlainByTheVerdict) {
  SayHello();
  ExpectEnd(voter_.Hear(Plain(2)), VoterPhase::kPlain, "rank 1: expected hello, got no");
}

TEST_F(VoterTest, RunsPlainByAVerdictForAnyRank) {
  SayHello();
  ExpectEnd(voter_.Hear(Plain(0)), VoterPhase::kPlain, "rank 1: expected hello, got no");
}

TEST_F(VoterTest, SaysNoToAnotherVersion) {
  const Voter::Step step = voter_.Hear(Greeting{kVersion + 1});
  EXPECT_EQ(step.act, Act::kSayOtherVersion);
  EXPECT_EQ(step.reason.view(), "greeting: version: expected 2, got 3");
  EXPECT_EQ(step.reason.why, PlainReason::kOtherVersion);
  EXPECT_EQ(voter_.phase, VoterPhase::kPlain);
}

TEST_F(VoterTest, SaysNoIfItIsNotReady) {
  voter_.ready = false;
  const Voter::Step step = voter_.Hear(Greeting{});
  EXPECT_EQ(step.act, Act::kSayNotReady);
  EXPECT_EQ(step.reason.view(), "this rank: expected ready, got not ready");
  EXPECT_EQ(voter_.phase, VoterPhase::kPlain);
}

TEST_F(VoterTest, RunsPlainWhereNoProcessListens) {
  ExpectEnd(
      voter_.Unreachable(), VoterPhase::kPlain,
      "port of rank 0: expected a connection, got none; rank 0 runs plain or has ended, or a NetworkPolicy "
      "forbids it");
}

TEST_F(VoterTest, RunsPlainAfterALossBeforeItsHello) {
  ExpectEnd(voter_.Lose(), VoterPhase::kPlain, "rank 0: expected a greeting, got the end of the connection");
}

TEST_F(VoterTest, RunsPlainAfterATimeWithoutAGreeting) {
  ExpectEnd(voter_.EndTime(), VoterPhase::kPlain, "rank 0: expected a greeting within 10000 ms, got none");
}

TEST_F(VoterTest, RunsPlainWhereAStrangerListens) {
  ExpectEnd(voter_.Hear(Broken{MakeReason("garbage")}), VoterPhase::kPlain, "garbage");
  EXPECT_EQ(voter_.Hear(Greeting{}).act, Act::kNothing);
  EXPECT_EQ(voter_.phase, VoterPhase::kPlain);
}

TEST_F(VoterTest, RunsPlainAfterAVerdictWithoutAGreeting) {
  ExpectEnd(voter_.Hear(Narrow()), VoterPhase::kPlain, "rank 0: expected a greeting, got a verdict");
}

TEST_F(VoterTest, FailsAfterALoss) {
  SayHello();
  ExpectEnd(voter_.Lose(), VoterPhase::kFailed, "rank 0: expected a verdict, got the end of the connection");
}

TEST_F(VoterTest, FailsAfterATimeWithoutAVerdict) {
  SayHello();
  ExpectEnd(voter_.EndTime(), VoterPhase::kFailed, "rank 0: expected a verdict within 20000 ms, got none");
}

TEST_F(VoterTest, FailsWhereItsHelloIsNotSent) {
  SayHello();
  ExpectEnd(voter_.FailToSend(), VoterPhase::kFailed,
            "hello: expected to send 176 bytes, got an error or fewer");
}

TEST_F(VoterTest, FailsAfterASecondGreeting) {
  SayHello();
  ExpectEnd(voter_.Hear(Greeting{}), VoterPhase::kFailed, "rank 0: expected a verdict, got a greeting");
}

TEST_F(VoterTest, FailsByAVerdictThatRankZeroWouldNotSend) {
  const auto expect = [this](Verdict verdict, const std::string& reason) {
    voter_ = Voter(&own_, true);
    SayHello();
    ExpectEnd(voter_.Hear(verdict), VoterPhase::kFailed, reason);
  };
  Verdict verdict = Narrow();
  verdict.rank = 1;
  expect(verdict, "verdict of rank 0: rank: expected 2, got 1");
  verdict = Narrow();
  verdict.rank = 0;
  expect(verdict, "verdict of rank 0: rank: expected 2, got 0");
  expect(Plain(1), "verdict of rank 0: rank: expected 2, got 1");
  verdict = Narrow();
  verdict.codec = Codec::kBf16;
  expect(verdict, "verdict of rank 0: codec: expected q8, got bf16");
  verdict = Narrow();
  verdict.level = 4;
  expect(verdict, "verdict of rank 0: level: expected 8, got 4");
  verdict = Narrow();
  verdict.budget_mib = 101;
  expect(verdict, "verdict of rank 0: budget: expected 1 to 100, got 101");
  verdict.budget_mib = 0;
  expect(verdict, "verdict of rank 0: budget: expected 1 to 100, got 0");
}

}  // namespace
}  // namespace crossover::shrink::vote
