#include "shrink/vote/collector.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace crossover::shrink::vote {
namespace {

class CollectorTest : public testing::Test {
 protected:
  using Act = Collector::Act;

  static Hello HelloOf(std::uint32_t rank) {
    Hello hello{.ranks = 3, .rank = rank, .proposal = {7, Codec::kBf16, 16, 100}};
    hello.id.fill(1);
    return hello;
  }
  Collector::Step Hear(const Hello& hello) { return collector_.Hear(hello, seats_); }
  // Expects that the hello makes the communicator plain, for this reason.
  void ExpectRefused(const Hello& hello, const std::string& reason) {
    const Collector::Step step = Hear(hello);
    EXPECT_EQ(step.act, Act::kTellAll);
    EXPECT_EQ(step.reason.view(), reason);
    EXPECT_EQ(collector_.phase, CollectorPhase::kPlain);
    EXPECT_EQ(collector_.VerdictFor(1, step.reason).choice, Choice::kPlain);
    EXPECT_EQ(collector_.VerdictFor(1, step.reason).reason.view(), reason);
  }

  const Hello own_ = HelloOf(0);
  std::array<Seat, 3> seats_{};
  Collector collector_{&own_};
};

TEST_F(CollectorTest, AllSayTheSame) {
  EXPECT_EQ(Hear(HelloOf(2)).act, Act::kCount);
  Hello last = HelloOf(1);
  last.proposal.budget_mib = 60;
  const Collector::Step step = Hear(last);
  EXPECT_EQ(step.act, Act::kTellAll);
  EXPECT_TRUE(step.reason.empty());
  const Verdict verdict = collector_.VerdictFor(2, step.reason);
  EXPECT_EQ(verdict.choice, Choice::kNarrow);
  EXPECT_EQ(verdict.rank, 2u);
  EXPECT_EQ(verdict.codec, Codec::kBf16);
  EXPECT_EQ(verdict.level, 16u);
  EXPECT_EQ(verdict.budget_mib, 60u);
}

TEST_F(CollectorTest, EachDifferenceIsNamed) {
  Hello hello = HelloOf(2);
  hello.proposal.codec = Codec::kQ8;
  ExpectRefused(hello, "hello of rank 2: CROSSOVER_SHRINK: expected bf16, got q8");
  // The verdict is on its way to each rank that says something later.
  EXPECT_EQ(Hear(HelloOf(1)).act, Act::kNothing);
  EXPECT_EQ(collector_.phase, CollectorPhase::kPlain);
}

TEST_F(CollectorTest, AnotherLevel) {
  Hello hello = HelloOf(2);
  hello.proposal.level = 8;
  ExpectRefused(hello, "hello of rank 2: level: expected 16, got 8");
}

TEST_F(CollectorTest, AnotherBuild) {
  Hello hello = HelloOf(2);
  hello.proposal.build = 0xabc;
  ExpectRefused(hello,
                "hello of rank 2: build of the library: expected 0000000000000007, got 0000000000000abc");
}

TEST_F(CollectorTest, AnotherCountOfRanks) {
  Hello hello = HelloOf(900);
  hello.ranks = 1000;
  ExpectRefused(hello, "hello of rank 900: ranks: expected 3, got 1000");
}

TEST_F(CollectorTest, ARankTwice) {
  EXPECT_EQ(Hear(HelloOf(2)).act, Act::kCount);
  ExpectRefused(HelloOf(2), "hello of rank 2: expected one, got two");
}

TEST_F(CollectorTest, AStrangerChangesNothing) {
  Hello other = HelloOf(2);
  other.id.fill(2);
  const Collector::Step step = Hear(other);
  EXPECT_EQ(step.act, Act::kTellOne);
  EXPECT_EQ(step.reason.view(), "hello of rank 2: communicator: expected this one's ID, got another");
  EXPECT_EQ(collector_.Hear(Broken{MakeReason("garbage")}).act, Act::kClose);
  No no{.id = other.id, .rank = 1, .why = 1};
  EXPECT_EQ(collector_.Hear(no).act, Act::kClose);
  EXPECT_EQ(collector_.phase, CollectorPhase::kGathers);
  EXPECT_EQ(Hear(HelloOf(2)).act, Act::kCount);
  EXPECT_EQ(Hear(HelloOf(1)).act, Act::kTellAll);
  EXPECT_EQ(collector_.phase, CollectorPhase::kNarrow);
}

TEST_F(CollectorTest, ANo) {
  No no{.id = own_.id, .rank = 1, .why = static_cast<std::uint32_t>(Why::kOtherVersion)};
  const Collector::Step step = collector_.Hear(no);
  EXPECT_EQ(step.act, Act::kTellAll);
  EXPECT_EQ(step.reason.view(), "rank 1: expected hello, got no: its file has another version");
  EXPECT_EQ(step.reason.why, PlainReason::kOtherVersion);
  no.rank = 2;
  EXPECT_EQ(collector_.Hear(no).act, Act::kClose);
}

TEST_F(CollectorTest, ANoOfARankThatIsNotReady) {
  const Collector::Step step = collector_.Hear(No{.id = own_.id, .rank = 1, .why = 77});
  EXPECT_EQ(step.reason.view(), "rank 1: expected hello, got no: it is not ready (its log says why)");
  EXPECT_EQ(step.reason.why, PlainReason::kUnreadyRank);
}

TEST_F(CollectorTest, ALostConnection) {
  Hear(HelloOf(2));
  const Collector::Step step = collector_.Lose(2);
  EXPECT_EQ(step.act, Act::kTellAll);
  EXPECT_EQ(step.reason.view(), "rank 2: expected a connection until the verdict, got its end");
  EXPECT_EQ(step.reason.why, PlainReason::kLostRank);
  EXPECT_EQ(collector_.phase, CollectorPhase::kPlain);
}

TEST_F(CollectorTest, TheTimeLimit) {
  Hear(HelloOf(1));
  const Collector::Step step = collector_.EndTime(seats_);
  EXPECT_EQ(step.act, Act::kTellAll);
  EXPECT_EQ(step.reason.view(), "ranks that said hello within 10000 ms: expected 3, got 2; rank 2 did not");
  EXPECT_EQ(step.reason.why, PlainReason::kMissingRank);
}

// No event behind a narrow verdict tells a rank another one.
TEST_F(CollectorTest, ANarrowVerdictStays) {
  Hear(HelloOf(1));
  Hear(HelloOf(2));
  EXPECT_EQ(collector_.Lose(1).act, Act::kNothing);
  EXPECT_EQ(collector_.EndTime(seats_).act, Act::kNothing);
  const Collector::Step again = Hear(HelloOf(1));
  EXPECT_EQ(again.act, Act::kClose);
  EXPECT_EQ(again.reason.view(), "hello of rank 1: expected one, got another after the verdict");
  EXPECT_EQ(collector_.Hear(No{.id = own_.id, .rank = 1, .why = 1}).act, Act::kClose);
  EXPECT_EQ(collector_.phase, CollectorPhase::kNarrow);
  EXPECT_EQ(collector_.VerdictFor(1, {}).choice, Choice::kNarrow);
}

}  // namespace
}  // namespace crossover::shrink::vote
