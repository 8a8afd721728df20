#include "deviceplugin/arbiter/quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::arbiter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr turn::Time kSecond = base::kNsPerSecond;

TEST(QuarantineTest, EndsByItself) {
  Quarantine quarantine;
  EXPECT_EQ(quarantine.next_release(), turn::kNever);
  quarantine.Begin("a", 5 * kSecond);
  EXPECT_TRUE(quarantine.Has("a"));
  EXPECT_FALSE(quarantine.Has("b"));
  EXPECT_EQ(quarantine.next_release(), 5 * kSecond + Quarantine::kLongest);
  EXPECT_THAT(quarantine.TakeReleased(quarantine.next_release() - 1), IsEmpty());
  EXPECT_THAT(quarantine.TakeReleased(quarantine.next_release()), ElementsAre("a"));
  EXPECT_FALSE(quarantine.Has("a"));
}

TEST(QuarantineTest, EndsOnceItIsKnownWhoItWas) {
  Quarantine quarantine;
  quarantine.Begin("a", 0);
  quarantine.Block("a", "mallory", 7, kSecond);
  EXPECT_THAT(quarantine.TakeReleased(kSecond), ElementsAre("a"));
  EXPECT_EQ(quarantine.TurnedAwayFor("mallory", 7, kSecond), Quarantine::kTurnedAway);
  EXPECT_EQ(quarantine.TurnedAwayFor("mallory", 7, kSecond + Quarantine::kTurnedAway), 0);
}

TEST(QuarantineTest, TurnsNoOtherAway) {
  Quarantine quarantine;
  quarantine.Block("a", "mallory", 7, 0);
  EXPECT_EQ(quarantine.TurnedAwayFor("mallory", 8, 1), 0) << "another user's job of that name";
  EXPECT_EQ(quarantine.TurnedAwayFor("alice", 7, 1), 0);
}

TEST(QuarantineTest, RemembersABoundedNumber) {
  Quarantine quarantine;
  for (unsigned uid = 0; uid <= Quarantine::kMostBlocked; ++uid) quarantine.Block("a", "m", uid, uid);
  EXPECT_EQ(quarantine.TurnedAwayFor("m", 0, 1000), 0);
  EXPECT_GT(quarantine.TurnedAwayFor("m", 1, 1000), 0);
}

}  // namespace
}  // namespace crossover::arbiter
