#include "sidecar/session/stretches.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "sidecar/session/launches_left.h"

namespace crossover::session {
namespace {

class StretchesTest : public ::testing::Test {
 protected:
  // Launches until a yield point is due, `most` times at most. Returns the number of launches, or 0 if none
  // is due.
  int UntilDue(int most) {
    for (int launches = 1; launches <= most; ++launches) {
      if (stretches_.Launch()) return launches;
    }
    return 0;
  }

  Stretches stretches_;
};

TEST_F(StretchesTest, AYieldPointIsDueAfterAsManyLaunchesAsAreAsked) {
  stretches_.Begin(5);
  EXPECT_EQ(UntilDue(100), 5);
  EXPECT_TRUE(stretches_.due());
  EXPECT_EQ(stretches_.launched(), 5);
  stretches_.Next(3);
  EXPECT_FALSE(stretches_.due());
  EXPECT_EQ(UntilDue(100), 3);
  EXPECT_EQ(stretches_.launched(), 8);
}

TEST_F(StretchesTest, TheFirstTurnHasNoYieldPoint) {
  stretches_.Begin(0);
  EXPECT_EQ(UntilDue(10'000), 0);
  stretches_.End();
  EXPECT_EQ(stretches_.usual(), 10'000u);
}

TEST_F(StretchesTest, ATurnTwiceAsLongAsUsualHasOne) {
  stretches_.Begin(0);
  EXPECT_EQ(UntilDue(100), 0);
  stretches_.End();
  stretches_.Begin(0);
  EXPECT_EQ(UntilDue(1000), 200);
}

// The hook of a launch counts while no yield point is due. It leaves the launch at which one is due to the
// session.
TEST_F(StretchesTest, TheLaunchAtWhichAYieldPointIsDueIsNotCountedByTheHook) {
  stretches_.Begin(2);
  EXPECT_TRUE(CountLaunch());
  EXPECT_FALSE(CountLaunch());
  EXPECT_FALSE(stretches_.due());
  EXPECT_TRUE(stretches_.Launch());
  EXPECT_EQ(stretches_.launched(), 2);
}

// A thread that was counting when a turn began leaves the rest of another turn's count there.
TEST_F(StretchesTest, ACountOfAnotherTurnIsBounded) {
  for (const std::int32_t stale : {-5, -1, 0, 1, 1 << 30, INT32_MAX}) {
    Stretches stretches;
    stretches.Begin(100);
    launches_left = stale;
    EXPECT_GE(stretches.launched(), 0) << stale;
    EXPECT_LE(stretches.launched(), 100) << stale;
    stretches.End();
    EXPECT_LE(stretches.usual(), 100u) << stale;
  }
}

}  // namespace
}  // namespace crossover::session
