// Tests whose turn the policy breaks at a yield point, and for which client.
#include <gtest/gtest.h>

#include "turn/policy.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;
constexpr SlotSet kBoth(0b11);
constexpr SlotIndex kShort = 0;
constexpr SlotIndex kLong = 1;

// The two clients have known timings: turns of 10 and 40 ms, and absences of 10 and 8 ms.
class PreemptionTest : public ::testing::Test {
 protected:
  explicit PreemptionTest(PolicySettings settings = {}) : policy_(settings) {}
  void SetUp() override {
    policy_.Join(kShort, 0);
    policy_.Join(kLong, 1);
    Learn(kShort, 10 * kMs, 10 * kMs);
    Learn(kLong, 40 * kMs, 8 * kMs);
  }
  void Learn(SlotIndex slot, Time busy, Time away) {
    Arrive(slot, 0);
    Enter(slot, 0);
    Leave(slot, busy);
    Arrive(slot, busy + away);
    Enter(slot, busy + away);
    Leave(slot, 2 * busy + away);
  }
  void Arrive(SlotIndex slot, Time now) {
    words_[slot].ready = NextTurn(words_[slot].hold);
    policy_.Watch(slot, words_[slot], now);
    policy_.Settle(kBoth, now);
  }
  void Enter(SlotIndex slot, Time now) {
    words_[slot].hold = words_[slot].ready;
    words_[slot].gate = LastStretch(words_[slot].hold);
    policy_.Watch(slot, words_[slot], now);
    policy_.Settle(kBoth, now);
  }
  void Leave(SlotIndex slot, Time now) {
    words_[slot].rel = words_[slot].hold;
    policy_.Watch(slot, words_[slot], now);
    policy_.Settle(kBoth, now);
  }
  // Lets the client wait at a yield point, behind a gate that was shut.
  void Yield(SlotIndex slot, Time now) {
    words_[slot].gate = words_[slot].hold - 1;
    words_[slot].ready = NextStretch(words_[slot].hold);
    words_[slot].rel = words_[slot].hold;
    policy_.Watch(slot, words_[slot], now);
    policy_.Settle(kBoth, now);
  }

  Policy policy_;
  ClientWords words_[2];
};

TEST_F(PreemptionTest, AClientWithTurnsDueIsLetInAfterAQuantum) {
  Arrive(kLong, 200 * kMs);
  Enter(kLong, 200 * kMs);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kLong, 206 * kMs)) << "no client waits";
  Arrive(kShort, 204 * kMs);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kLong, 204 * kMs)) << "the quantum is not over";
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kLong, 206 * kMs));
  Yield(kLong, 206 * kMs);
  EXPECT_EQ(policy_.Want(kBoth, 206 * kMs).slot, kShort);
}

TEST_F(PreemptionTest, AClientThatHasHadItsTurnsWaitsForTheEnd) {
  Time now = 96 * kMs;
  Arrive(kLong, now);
  Enter(kLong, now);
  int broken = 0;
  for (; broken < 10; ++broken) {
    Arrive(kShort, now += kMs);
    if (!policy_.ShouldPreempt(kBoth, kLong, now += 5 * kMs)) break;
    Yield(kLong, now);
    Enter(kShort, now);
    Leave(kShort, now += 10 * kMs);
    Enter(kLong, now);
  }
  EXPECT_TRUE(broken == 1 || broken == 2) << "one less often than its iteration is shorter";
  Leave(kLong, now += kMs);
  Enter(kShort, now);
  Leave(kShort, now += 10 * kMs);
  Arrive(kLong, now);
  Enter(kLong, now);
  Arrive(kShort, now += 5 * kMs);
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kLong, now += 5 * kMs)) << "the next iteration";
}

TEST_F(PreemptionTest, ABrokenTurnIsLearnedWhole) {
  Arrive(kLong, 200 * kMs);
  Enter(kLong, 200 * kMs);
  Yield(kLong, 210 * kMs);
  Enter(kLong, 220 * kMs);
  Leave(kLong, 250 * kMs);
  EXPECT_EQ(policy_.timing(kLong).longest_turn(), 40 * kMs);
  EXPECT_EQ(policy_.timing(kLong).gap(), 112 * kMs) << "a yield point is no gap";
}

// The two clients have the same timing. Client 0 has waited since a millisecond after client 1 was let in.
class EqualJobsTest : public PreemptionTest {
 protected:
  void SetUp() override {
    for (const SlotIndex slot : {0u, 1u}) {
      policy_.Join(slot, slot);
      Learn(slot, 20 * kMs, 12 * kMs);
    }
    Arrive(1, 200 * kMs);
    Enter(1, 200 * kMs);
    Arrive(0, 201 * kMs);
  }
};

TEST_F(EqualJobsTest, KeepTheirTurnsWhole) {
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, 1, 219 * kMs));
  EXPECT_EQ(policy_.StretchWanted(kBoth, 1, 0), 0);
}

TEST_F(EqualJobsTest, AnEndlessTurnIsBroken) {
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, 1, 240 * kMs));
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, 1, 241 * kMs));
}

// If this GPU broke the turn, the job's ranks on other GPUs would wait for this one in a collective, and
// would keep their turns from the other job meanwhile.
TEST_F(PreemptionTest, TurnsThatLastStayWhole) {
  policy_.SetTurnsLast(true);
  policy_.SetPriority(kShort, Priority::kHigh);
  EXPECT_EQ(policy_.StretchWanted(kBoth, kLong, 0), 0);
  Arrive(kLong, 200 * kMs);
  Enter(kLong, 200 * kMs);
  Arrive(kShort, 201 * kMs);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kLong, 290 * kMs)) << "its collective may take as long";
  policy_.SetPriority(kShort, Priority::kNormal);
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kLong, 301 * kMs)) << "an evaluation";
}

TEST_F(PreemptionTest, HighPriorityWaitsForTheNextLaunchOnly) {
  policy_.SetPriority(kShort, Priority::kHigh);
  EXPECT_GT(policy_.StretchWanted(kBoth, kLong, 0), 0);
  EXPECT_LE(policy_.StretchWanted(kBoth, kLong, 0), 300'000) << "it is made way for so long before it comes";
  Arrive(kLong, 200 * kMs);
  Enter(kLong, 200 * kMs);
  Arrive(kShort, 200 * kMs + 1);
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kLong, 200 * kMs + 1));
  Yield(kLong, 201 * kMs);
  EXPECT_EQ(policy_.Want(kBoth, 201 * kMs).slot, kShort);
  Enter(kShort, 201 * kMs);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kShort, 210 * kMs));
}

// The client with priority is due at its next expected arrival, and up to 0.3 ms before and after that.
TEST_F(PreemptionTest, HighPriorityIsMadeWayForOnlyWhileItIsDue) {
  policy_.SetPriority(kShort, Priority::kHigh);
  Arrive(kLong, 90 * kMs);
  Enter(kLong, 90 * kMs);
  Enter(kShort, 90 * kMs);
  Leave(kShort, 100 * kMs);
  const Time due = policy_.timing(kShort).next_arrival();
  ASSERT_NE(due, kNever);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kLong, due - 300'001));
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kLong, due - 300'000));
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kLong, due + 300'000));
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kLong, due + 300'001)) << "it has not come when it should";
}

TEST_F(PreemptionTest, LowPriorityGetsAQuantumWhenItHasWaitedTooLong) {
  policy_.SetPriority(kLong, Priority::kLow);
  Arrive(kShort, 200 * kMs);
  Enter(kShort, 200 * kMs);
  Arrive(kLong, 201 * kMs);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kShort, 1'000 * kMs));
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kShort, 1'001 * kMs));
  Yield(kShort, 1'001 * kMs);
  EXPECT_EQ(policy_.Want(kBoth, 1'001 * kMs).slot, kLong) << "although the other has priority";
  Enter(kLong, 1'001 * kMs);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kLong, 1'005 * kMs)) << "a quantum is its";
  EXPECT_TRUE(policy_.ShouldPreempt(kBoth, kLong, 1'006 * kMs));
}

// A visit is a turn of a few kernels before a wait for input. The policy lets it in between two kernels of
// the other client's turn. It breaks a visit only for a client of higher priority.
TEST(VisitsTest, AreMadeWayForAndStayWhole) {
  Policy policy;
  ClientWords words[2];
  const auto watch = [&](SlotIndex slot, Time now) {
    policy.Watch(slot, words[slot], now);
    policy.Settle(kBoth, now);
  };
  for (const SlotIndex slot : {0u, 1u}) {
    policy.Join(slot, slot);
    policy.SetTurns(slot, 2);
    Time now = 0;
    for (int turn = 1; turn <= 8; ++turn) {
      const bool visit = turn % 2 == 0;
      words[slot].ready = NextTurn(words[slot].hold);
      watch(slot, now);
      words[slot].hold = words[slot].ready;
      watch(slot, now);
      words[slot].rel = words[slot].hold;
      watch(slot, now += visit ? 2 * kMs : 18 * kMs);
      now += visit ? 15 * kMs : 12 * kMs;
    }
  }
  EXPECT_EQ(policy.StretchWanted(kBoth, 0, 0), 0) << "the visit";
  EXPECT_GT(policy.StretchWanted(kBoth, 0, 1), 0);
  EXPECT_LE(policy.StretchWanted(kBoth, 0, 1), kMs / 2);
  policy.SetPriority(1, Priority::kHigh);
  EXPECT_GT(policy.StretchWanted(kBoth, 0, 0), 0) << "but for who has priority";
}

class WholeTurnsTest : public PreemptionTest {
 protected:
  WholeTurnsTest() : PreemptionTest({.quantum = 0}) {}
};

TEST_F(WholeTurnsTest, WithoutAQuantumTurnsStayWhole) {
  Arrive(kLong, 200 * kMs);
  Enter(kLong, 200 * kMs);
  Arrive(kShort, 201 * kMs);
  EXPECT_FALSE(policy_.ShouldPreempt(kBoth, kLong, 239 * kMs));
  EXPECT_EQ(policy_.StretchWanted(kBoth, kLong, 0), 0);
}

}  // namespace
}  // namespace crossover::turn::test
