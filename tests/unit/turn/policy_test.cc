#include "turn/policy.h"

#include <gtest/gtest.h>

#include "tests/unit/turn/client_words.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;
constexpr SlotSet kBoth(0b11);

// One turn of 20 ms, asked for and begun at `begin`.
void LiveOneTurn(Policy* policy, SlotIndex slot, std::uint32_t k, Time begin) {
  policy->Watch(slot, Waiting(k), begin);
  policy->Watch(slot, Holding(k), begin);
  policy->Watch(slot, Idle(k), begin + 20 * kMs);
}

// Two turns, the second from `second`: so it is known when to expect a third.
void LiveTwoTurns(Policy* policy, SlotIndex slot, Time second) {
  LiveOneTurn(policy, slot, 1, 0);
  LiveOneTurn(policy, slot, 2, second);
}

TEST(Policy, FirstComeFirstServedOutsideTheWindow) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  policy.Watch(1, Waiting(1), 10 * kMs);
  policy.Watch(0, Waiting(1), 16 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 16 * kMs).slot, 1u);
}

// Ranks of two jobs that ran side by side come to their first turn within milliseconds of each other, and not
// on all GPUs in the same order.
TEST(Policy, TheFirstTurnIsKeptForWhoGoesFirst) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  policy.Watch(1, Waiting(1), 10 * kMs);
  const Policy::Choice kept = policy.Want(kBoth, 11 * kMs);
  EXPECT_EQ(kept.slot, 0u);
  EXPECT_TRUE(kept.holds_back);
  EXPECT_EQ(kept.ask_again, 15 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 15 * kMs).slot, 1u) << "not for longer";
  policy.Watch(0, Waiting(1), 13 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 13 * kMs).slot, 0u);
}

TEST(Policy, NoTurnButTheFirstIsKeptForAClientThatNeverCame) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  LiveOneTurn(&policy, 1, 1, 0);
  policy.Watch(1, Waiting(2), 40 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 40 * kMs).slot, 1u);
  policy.Pause(1);
  policy.Watch(1, Waiting(2), 50 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 50 * kMs).slot, 0u) << "turns begin again";
}

TEST(Policy, ArrivalsWithinTheWindowRunInOrder) {
  PolicySettings settings;
  settings.tie_window = 2 * kMs;
  Policy policy(settings);
  policy.Join(0, 1);
  policy.Join(1, 0);
  policy.Watch(0, Waiting(1), 10 * kMs);
  policy.Watch(1, Waiting(1), 11 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 11 * kMs).slot, 1u);
}

TEST(Policy, HoldsTheGpuBackOnlyForAPreferredClientExpectedInTheWindow) {
  PolicySettings settings;
  settings.tie_window = 2 * kMs;
  Policy policy(settings);
  policy.Join(0, 0);
  policy.Join(1, 1);
  LiveTwoTurns(&policy, 0, 32 * kMs);

  policy.Watch(1, Waiting(1), 63 * kMs);
  const Policy::Choice choice = policy.Want(kBoth, 63 * kMs);
  EXPECT_EQ(choice.slot, 0u);
  EXPECT_TRUE(choice.holds_back);
  EXPECT_EQ(choice.ask_again, 65 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 65 * kMs).slot, 1u);
}

TEST(Policy, DoesNotHoldBackForAClientExpectedLater) {
  PolicySettings settings;
  settings.tie_window = 2 * kMs;
  Policy policy(settings);
  policy.Join(0, 0);
  policy.Join(1, 1);
  LiveTwoTurns(&policy, 0, 32 * kMs);
  policy.Watch(1, Waiting(1), 60 * kMs);
  const Policy::Choice choice = policy.Want(kBoth, 60 * kMs);
  EXPECT_EQ(choice.slot, 1u);
  EXPECT_FALSE(choice.holds_back);
}

TEST(Policy, ParksWhereTheNextArrivalIsExpected) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  LiveTwoTurns(&policy, 1, 30 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 51 * kMs).slot, 1u);
}

TEST(Policy, AnOverdueClientIsNoLongerExpected) {
  Policy policy;
  policy.Join(0, 0);
  LiveTwoTurns(&policy, 0, 30 * kMs);
  EXPECT_EQ(policy.Want(SlotSet(0b1), 200 * kMs).slot, kNobody);
}

// Two GPUs that let in different jobs, and each of them another job in each iteration: a job is away for long
// if it went first, and for a moment if it went last. By the last gap alone the job that went first is
// overdue, so each GPU keeps the turn for the job that went last, and the GPUs never agree.
TEST(Policy, AJobThatWentFirstIsExpectedThoughItsLastAbsenceWasShort) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  const auto turn = [&policy](SlotIndex slot, TurnNumber k, Time arrived, Time held) {
    policy.Watch(slot, Waiting(k), arrived);
    policy.Watch(slot, Holding(k), held);
    policy.Watch(slot, Idle(k), held + 5 * kMs);
  };
  turn(1, 1, 0, 0);
  turn(0, 1, 0, 5 * kMs);
  turn(0, 2, 12 * kMs, 12 * kMs);  // away for 2 ms
  turn(1, 2, 12 * kMs, 17 * kMs);  // away for 7 ms
  turn(1, 3, 24 * kMs, 24 * kMs);
  turn(0, 3, 24 * kMs, 29 * kMs);
  turn(0, 4, 36 * kMs, 36 * kMs);
  turn(1, 4, 36 * kMs, 41 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 46 * kMs).slot, 0u);
  EXPECT_EQ(policy.Want(kBoth, 60 * kMs).slot, kNobody) << "it does not come at all";
}

TEST(Policy, WindowIsATenthOfTheShortestTurnUpToTwoMilliseconds) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  EXPECT_EQ(policy.TieWindow(kBoth), 0);
  LiveOneTurn(&policy, 0, 1, 0);
  EXPECT_EQ(policy.TieWindow(kBoth), 2 * kMs);
  policy.Watch(1, Waiting(1), 0);
  policy.Watch(1, Holding(1), 0);
  policy.Watch(1, Idle(1), 5 * kMs);
  EXPECT_EQ(policy.TieWindow(kBoth), kMs / 2);
}

TEST(Policy, SuccessorGoesRoundInOrder) {
  Policy policy;
  policy.Join(0, 2);
  policy.Join(1, 0);
  policy.Join(2, 1);
  const SlotSet all(0b111);
  EXPECT_EQ(policy.Successor(all, 1, FirstStretch(1)), 2u);
  EXPECT_EQ(policy.Successor(all, 2, FirstStretch(1)), 0u);
  EXPECT_EQ(policy.Successor(all, 0, FirstStretch(1)), 1u);
  EXPECT_EQ(policy.Successor(SlotSet(0b1), 0, FirstStretch(1)), 0u);
}

// Its cap on slowdown leaves it no time to wait: it would be back before a stretch of the other's turn is
// over.
TEST(Policy, WhoIsPressedAndComesBackAtOnceKeepsTheTurn) {
  const auto successor = [](Time away, double cap) {
    Policy policy;
    policy.Join(0, 0);
    policy.Join(1, 1);
    policy.SetCap(0, cap);
    policy.SetKnown(0, {.busy = 20 * kMs, .away = away});
    LiveOneTurn(&policy, 0, 1, 0);
    const Time back = 20 * kMs + away;
    policy.Watch(0, Waiting(2), back);
    policy.Watch(0, Holding(2), back + 15 * kMs);
    policy.Watch(0, Idle(2), back + 35 * kMs);
    policy.Watch(1, Waiting(1), back + 35 * kMs);
    policy.Settle(kBoth, back + 35 * kMs);
    return policy.Successor(kBoth, 0, FirstStretch(2));
  };
  EXPECT_EQ(successor(kMs / 2, 1.2), 0u);
  EXPECT_EQ(successor(kMs / 2, 3), 1u) << "it may wait";
  EXPECT_EQ(successor(5 * kMs, 1.2), 1u) << "the other has time for a stretch meanwhile";
}

// An iteration has forty turns of 20 ms. With a cap of 1.2 each of them may wait for 4 ms, and not for the
// time of the whole iteration.
TEST(Policy, ACapCountsEachTurnWhereAnIterationHasMany) {
  const auto keeps = [](Time waits) {
    Policy policy;
    policy.Join(0, 0);
    policy.Join(1, 1);
    policy.SetTurns(0, 40);
    policy.SetCap(0, 1.2);
    policy.SetKnown(0, {.busy = 40 * 20 * kMs, .away = 40 * kMs});
    Time now = 0;
    for (std::uint32_t turn = 1; turn <= 30; ++turn) {
      policy.Watch(0, Waiting(turn), now);
      policy.Watch(0, Holding(turn), now + waits);
      policy.Watch(0, Idle(turn), now + waits + 20 * kMs);
      now += waits + 21 * kMs;
    }
    policy.Watch(1, Waiting(1), now - kMs);
    policy.Settle(kBoth, now - kMs);
    return policy.Successor(kBoth, 0, FirstStretch(30)) == 0u;
  };
  EXPECT_TRUE(keeps(15 * kMs)) << "it has waited for too long";
  EXPECT_FALSE(keeps(1 * kMs));
}

// The owner's gap is of 12 ms: patience is of 20, the least there is.
TEST(Policy, AnOwnerThatStaysAwayKeepsTheGpuForAsLongAsItsPatience) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  LiveTwoTurns(&policy, 0, 32 * kMs);
  policy.SetOwner(0);
  policy.Watch(1, Waiting(1), 60 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 60 * kMs).slot, 0u) << "it is expected at 64 ms";
  EXPECT_EQ(policy.Want(kBoth, 84 * kMs).slot, 0u);
  EXPECT_EQ(policy.Want(kBoth, 84 * kMs + 1).slot, 1u);
}

TEST(Policy, AnOwnerThatIsUsuallyAwayForLongerIsWaitedForForAsLong) {
  Policy policy;
  policy.Join(0, 0);
  policy.Join(1, 1);
  LiveTwoTurns(&policy, 0, 70 * kMs);
  policy.SetOwner(0);
  policy.Watch(1, Waiting(1), 100 * kMs);
  EXPECT_EQ(policy.Want(kBoth, 190 * kMs).slot, 0u) << "50 ms after the 140 at which it is expected";
  EXPECT_EQ(policy.Want(kBoth, 190 * kMs + 1).slot, 1u);
}

// An iteration of two turns: after the first the client comes back before the other client.
class TwoTurnsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const SlotIndex slot : {0u, 1u}) {
      policy_.Join(slot, slot);
      policy_.SetTurns(slot, 2);
    }
  }
  void Turn(SlotIndex slot, std::uint32_t k, Time begin, Time end) {
    See(slot, Waiting(k), begin);
    See(slot, Holding(k), begin);
    See(slot, Idle(k), end);
  }
  void See(SlotIndex slot, const ClientWords& words, Time now) {
    policy_.Watch(slot, words, now);
    policy_.Settle(kBoth, now);
  }
  Policy policy_;
};

TEST_F(TwoTurnsTest, WhoComesBackFirstKeepsTheTurnNextTime) {
  Turn(0, 1, 0, 2 * kMs);
  Turn(0, 2, 3 * kMs, 20 * kMs);
  Turn(1, 1, 20 * kMs, 22 * kMs);
  EXPECT_EQ(policy_.Successor(kBoth, 0, FirstStretch(3)), 0u) << "as after turn 1";
  EXPECT_EQ(policy_.Successor(kBoth, 0, FirstStretch(4)), 1u) << "as after turn 2";
}

TEST_F(TwoTurnsTest, NoClientKeepsTheTurnWhereTurnsLast) {
  policy_.SetTurnsLast(true);
  Turn(0, 1, 0, 2 * kMs);
  Turn(0, 2, 3 * kMs, 20 * kMs);
  EXPECT_EQ(policy_.Successor(kBoth, 0, FirstStretch(3)), 1u);
}

TEST_F(TwoTurnsTest, ButNotWhenItKeptAClientWaiting) {
  Turn(0, 1, 0, 2 * kMs);
  See(1, Waiting(1), 2 * kMs);
  Turn(0, 2, 3 * kMs, 20 * kMs);
  EXPECT_EQ(policy_.Successor(kBoth, 0, FirstStretch(3)), 1u);
}

TEST_F(TwoTurnsTest, AHintThatKeptAClientWaitingIsDropped) {
  Turn(0, 1, 0, 2 * kMs);
  Turn(0, 2, 3 * kMs, 20 * kMs);
  ASSERT_EQ(policy_.Successor(kBoth, 0, FirstStretch(3)), 0u);
  Turn(1, 1, 20 * kMs, 22 * kMs);
  Turn(0, 3, 40 * kMs, 42 * kMs);
  See(1, Waiting(2), 42 * kMs);
  Turn(0, 4, 43 * kMs, 60 * kMs);
  EXPECT_EQ(policy_.Successor(kBoth, 0, FirstStretch(5)), 1u);
}

TEST_F(TwoTurnsTest, ATieIsWithinATenthOfTheTurnThatComesNext) {
  Turn(0, 1, 0, 2 * kMs);
  Turn(0, 2, 3 * kMs, 23 * kMs);
  Turn(1, 1, 30 * kMs, 50 * kMs);
  Turn(1, 2, 51 * kMs, 71 * kMs);
  EXPECT_EQ(policy_.TieWindow(kBoth), kMs / 5) << "client 0 comes back for 2 ms";
  Turn(0, 3, 80 * kMs, 82 * kMs);
  EXPECT_EQ(policy_.TieWindow(kBoth), 2 * kMs);
}

TEST_F(TwoTurnsTest, LooksAfterTheNextTurnOfTheSamePosition) {
  Turn(0, 1, 0, 2 * kMs);
  Turn(0, 2, 3 * kMs, 20 * kMs);
  Turn(0, 3, 40 * kMs, 42 * kMs);
  EXPECT_EQ(policy_.timing(0).next_arrival(), 43 * kMs);
}

}  // namespace
}  // namespace crossover::turn::test
