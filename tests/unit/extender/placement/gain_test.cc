#include "extender/placement/gain.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

Gang Of(double compute_ms, double exposed_ms, double link_ms = 0, double cap = 0) {
  Gang gang = Job("g");
  gang.profile.compute_s = compute_ms / 1000;
  gang.profile.exposed_s = exposed_ms / 1000;
  gang.profile.link_s = link_ms / 1000;
  gang.max_slowdown = cap;
  return gang;
}

Prediction Pair(const Gang& a, const Gang& b, bool spans = true, double efficiency = 1) {
  const std::array gangs{&a, &b};
  return Predict(gangs, spans, efficiency);
}

TEST(PredictTest, EqualJobsGainAsMuchAsTheyAreExposed) {
  EXPECT_NEAR(Pair(Of(20, 4), Of(20, 4)).gain, 1.2, 1e-9);
  EXPECT_NEAR(Pair(Of(20, 12), Of(20, 12)).gain, 1.6, 1e-9);
  EXPECT_NEAR(Pair(Of(20, 40), Of(20, 40)).gain, 2, 1e-9);
  EXPECT_NEAR(Pair(Of(20, 0), Of(20, 0)).gain, 1, 1e-9);
}

TEST(PredictTest, TheCycleIsTheLongestOfWhatGpuJobsAndLinkNeed) {
  const Gang a = Of(20, 12, 10), b = Of(10, 30, 25);
  const std::array both{&a, &b};
  EXPECT_NEAR(LockstepCycle(both, true), 0.040, 1e-12) << "b alone";
  const Gang c = Of(20, 12, 30), d = Of(20, 12, 30);
  const std::array wire{&c, &d};
  EXPECT_NEAR(LockstepCycle(wire, true), 0.060, 1e-12) << "the link";
  Gang e = Of(20, 12);
  e.profile.spinning = 0.5;
  const std::array spinning{&e, &e};
  EXPECT_NEAR(LockstepCycle(spinning, true), 0.052, 1e-12) << "the GPU, with collectives that spin";
  EXPECT_NEAR(Pair(e, e).lockstep_gain, 64 / 52.0, 1e-9);
}

TEST(PredictTest, AShortJobDoesManyIterationsToOneOfALongOne) {
  const Prediction found = Pair(Of(250, 250), Of(5, 5));
  EXPECT_NEAR(found.lockstep_gain, 510 / 500.0, 1e-9);
  EXPECT_NEAR(found.gain, 2, 1e-9);
}

TEST(PredictTest, LinksCountWhereGpusAreOnSeveralNodes) {
  const Gang a = Of(10, 10, 10);
  EXPECT_NEAR(Pair(a, a, false).gain, 2, 1e-9);
  const Gang wire = Of(10, 10, 20);
  EXPECT_NEAR(Pair(wire, wire, true).gain, 1, 1e-9);
  EXPECT_NEAR(Pair(wire, wire, false).gain, 2, 1e-9);
  EXPECT_NEAR(Pair(wire, wire, true).lockstep_gain, 1, 1e-9);
  EXPECT_NEAR(Pair(wire, wire, false).lockstep_gain, 2, 1e-9);
}

TEST(PredictTest, JobsThatShareCpusGainLess) {
  Gang a = Of(5, 45);
  EXPECT_NEAR(Pair(a, a, false).gain, 2, 1e-9);
  a.profile.host_s = 0.040;
  EXPECT_NEAR(Pair(a, a, false).gain, 1.25, 1e-9);
}

// For jobs with iterations of equal length, the fair rates are the rates of the lockstep cycle.
TEST(PredictTest, IsTheClosedFormForEqualIterations) {
  std::mt19937_64 random(1);
  const auto ms = [&] { return 1 + static_cast<double>(random() % 4000) / 100; };
  for (int i = 0; i < 1000; ++i) {
    const double alone = 50, c1 = ms(), c2 = ms();
    const Prediction found = Pair(Of(c1, alone - c1), Of(c2, alone - c2));
    ASSERT_NEAR(found.gain, found.lockstep_gain, 1e-9) << c1 << " " << c2;
    ASSERT_NEAR(found.slowdown[0], found.cycle_s / (alone / 1000), 1e-9);
  }
}

TEST(PredictTest, NoGangIsSlowedBeyondACapThatCanBeKept) {
  const Prediction found = Pair(Of(20, 0, 0, 1.25), Of(20, 0));
  EXPECT_TRUE(found.caps_kept);
  EXPECT_NEAR(found.slowdown[0], 1.25, 1e-6);
  EXPECT_NEAR(found.slowdown[1], 5, 1e-3);
  EXPECT_FALSE(Pair(Of(20, 0, 0, 1.25), Of(20, 0, 0, 3)).caps_kept) << "0.8 and a third";
  EXPECT_FALSE(Pair(Of(20, 0, 0, 1.01), Of(20, 0)).caps_kept) << "nothing would be left for the other";
  EXPECT_FALSE(Pair(Of(5, 20, 0, 1.01), Of(5, 20), true, 0.95).caps_kept) << "turns themselves cost more";
}

TEST(PredictTest, TheLeastKnownSaysHowMuchIsKnown) {
  Gang hinted = Of(20, 12), unknown = Of(20, 12);
  hinted.profile.source = Source::kHinted;
  unknown.profile.source = Source::kUnknown;
  EXPECT_EQ(Pair(Of(20, 12), hinted).source, Source::kHinted);
  EXPECT_EQ(Pair(hinted, unknown).source, Source::kUnknown);
  EXPECT_EQ(Pair(hinted, unknown).cycle_s, 0);
  EXPECT_NEAR(Pair(unknown, unknown, false).gain, 1.13, 1e-9);
  EXPECT_NEAR(Pair(unknown, unknown, true).gain, 1.41, 1e-9);
}

TEST(PredictTest, AGangByItselfIsNotSlowed) {
  const Gang a = Of(20, 12);
  const std::array alone{&a};
  EXPECT_EQ(Predict(alone, true, 0.9).gain, 1);
  EXPECT_EQ(Predict(alone, true, 0.9).slowdown, std::vector<double>{1});
}

}  // namespace
}  // namespace crossover::placement
