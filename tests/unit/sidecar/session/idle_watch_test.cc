#include "sidecar/session/idle_watch.h"

#include <gtest/gtest.h>

namespace crossover::session::test {
namespace {

using turn::FirstStretch;

// Looks at a turn in which `launches` were made and nothing runs. Returns whether it must be given back.
bool LookIdle(IdleWatch* watch, std::uint32_t turn, std::int32_t launches) {
  return watch->Look(FirstStretch(turn), launches, true);
}

// Lets the turn stall behind its second launch. Returns how many looks it takes until the turn must be given
// back, or 0 if 30 are not enough.
int LooksUntilGivenBack(IdleWatch* watch, std::uint32_t turn) {
  EXPECT_FALSE(watch->Look(FirstStretch(turn), 2, false)) << "busy";
  for (int looks = 1; looks <= 30; ++looks) {
    if (LookIdle(watch, turn, 2)) return looks;
  }
  return 0;
}

TEST(IdleWatch, AGapBetweenLaunchesIsNoIdleness) {
  IdleWatch watch;
  for (std::int32_t launches = 0; launches < 20; ++launches) EXPECT_FALSE(LookIdle(&watch, 1, launches));
}

TEST(IdleWatch, ABusyTurnIsKept) {
  IdleWatch watch;
  for (int look = 0; look < 20; ++look) EXPECT_FALSE(watch.Look(FirstStretch(1), 5, false));
}

TEST(IdleWatch, OneStallIsWaitedFor) {
  IdleWatch watch;
  EXPECT_EQ(LooksUntilGivenBack(&watch, 1), 2);
  EXPECT_FALSE(watch.usual());
}

TEST(IdleWatch, WhereStallsAreUsualTheFirstLookIsEnough) {
  IdleWatch watch;
  for (std::uint32_t turn = 1; turn < 9; turn += 2) LooksUntilGivenBack(&watch, turn);
  EXPECT_TRUE(watch.usual());
  EXPECT_EQ(LooksUntilGivenBack(&watch, 9), 1);
  EXPECT_LT(watch.next_look(), 500) << "dense where it stalled last";
  EXPECT_FALSE(watch.Look(FirstStretch(10), 30, false));
  EXPECT_GE(watch.next_look(), 500);
}

TEST(IdleWatch, StallsThatEndAreForgotten) {
  IdleWatch watch;
  for (std::uint32_t turn = 1; turn < 20; turn += 2) LooksUntilGivenBack(&watch, turn);
  ASSERT_TRUE(watch.usual());
  for (std::uint32_t turn = 20; turn < 32; ++turn) watch.Look(FirstStretch(turn), 30, false);
  EXPECT_FALSE(watch.usual());
  EXPECT_EQ(LooksUntilGivenBack(&watch, 40), 2);
}

TEST(IdleWatch, TurnsThatLastAreGivenBackLateAndNeverAsARule) {
  IdleWatch watch;
  watch.set_turns_last(true);
  for (std::uint32_t turn = 1; turn < 20; turn += 2) EXPECT_EQ(LooksUntilGivenBack(&watch, turn), 20);
  EXPECT_FALSE(watch.usual());
}

}  // namespace
}  // namespace crossover::session::test
