#include "sidecar/ipc/beat.h"

#include <gtest/gtest.h>

namespace crossover::ipc {
namespace {

constexpr std::int64_t kLook = 20 * base::kNsPerMs;

TEST(BeatTest, StandsStillAfterAFifthOfASecondOfLooks) {
  Beat beat;
  std::int64_t now = 5;
  EXPECT_FALSE(beat.StandsStill(7, now));
  for (int look = 1; look < 10; ++look) EXPECT_FALSE(beat.StandsStill(7, now += kLook)) << look;
  EXPECT_TRUE(beat.StandsStill(7, now += kLook));
  EXPECT_FALSE(beat.StandsStill(8, now += kLook)) << "it goes on";
}

TEST(BeatTest, ATimeInWhichThisProcessWasStoppedDoesNotCount) {
  Beat beat;
  EXPECT_FALSE(beat.StandsStill(7, 0));
  EXPECT_FALSE(beat.StandsStill(7, 3 * base::kNsPerSecond));
}

TEST(BeatTest, ForgetsTheBeatOfBefore) {
  Beat beat;
  for (std::int64_t now = 0; now < base::kNsPerSecond; now += kLook) beat.StandsStill(7, now);
  beat.Forget();
  EXPECT_FALSE(beat.StandsStill(7, base::kNsPerSecond));
}

}  // namespace
}  // namespace crossover::ipc
