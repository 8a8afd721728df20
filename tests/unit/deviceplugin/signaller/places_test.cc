#include "deviceplugin/signaller/places.h"

#include <gtest/gtest.h>

#include "common/base/clock.h"

namespace crossover::signaller {
namespace {

using base::kNsPerSecond;

constexpr char kA[] = "GPU-00000000-0000-0000-0000-00000000000a";
constexpr char kB[] = "GPU-00000000-0000-0000-0000-00000000000b";

class PlacesTest : public ::testing::Test {
 protected:
  // Starts what is due. Returns how many that were.
  int Fill() {
    int started = 0;
    for (Place* place; (place = places_.Due(now_)) != nullptr; ++started)
      places_.Started(place, ++pid_, now_);
    return started;
  }

  Places places_{2};
  turn::Time now_ = 5 * kNsPerSecond;
  pid_t pid_ = 100;
};

TEST_F(PlacesTest, EachGpuHasItsSignallers) {
  EXPECT_EQ(Fill(), 0);
  places_.SetGpus({kA, kB}, now_);
  EXPECT_EQ(Fill(), 4);
  EXPECT_EQ(places_.next(), std::nullopt);
  places_.SetGpus({kA, kB}, now_);
  EXPECT_EQ(Fill(), 0) << "they run";
}

TEST_F(PlacesTest, OneThatEndsIsStartedAgainAfterAPauseThatDoubles) {
  places_.SetGpus({kA}, now_);
  Fill();
  for (const int seconds : {1, 2, 4, 8, 16, 32, 32}) {
    const Place* const place = places_.Ended(pid_, now_);
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place->gpu, kA);
    EXPECT_EQ(places_.next(), now_ + seconds * kNsPerSecond);
    now_ += seconds * kNsPerSecond - 1;
    EXPECT_EQ(Fill(), 0);
    now_ += 1;
    EXPECT_EQ(Fill(), 1);
  }
  now_ += 32 * kNsPerSecond;
  EXPECT_EQ(places_.Ended(pid_, now_)->pause, 1 * kNsPerSecond) << "it has run for long";
}

TEST_F(PlacesTest, OneThatCannotBeStartedIsTriedAgain) {
  places_.SetGpus({kA}, now_);
  places_.Started(places_.Due(now_), 0, now_);
  EXPECT_EQ(Fill(), 1) << "the other place";
  EXPECT_EQ(places_.next(), now_ + kNsPerSecond);
}

TEST_F(PlacesTest, AGpuThatHasGoneLosesItsPlacesWhenTheirSignallersHaveEnded) {
  places_.SetGpus({kA, kB}, now_);
  Fill();
  places_.SetGpus({kA}, now_);
  EXPECT_EQ(places_.all().size(), 4u);
  for (pid_t pid = 101; pid <= 104; ++pid) EXPECT_NE(places_.Ended(pid, now_), nullptr);
  EXPECT_EQ(places_.Ended(105, now_), nullptr);
  places_.SetGpus({kA}, now_);
  ASSERT_EQ(places_.all().size(), 2u);
  EXPECT_EQ(places_.all()[0].gpu, kA);
  EXPECT_EQ(places_.all()[1].gpu, kA);
}

}  // namespace
}  // namespace crossover::signaller
