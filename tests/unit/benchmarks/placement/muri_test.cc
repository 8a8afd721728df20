#include "benchmarks/placement/muri.h"

#include <gtest/gtest.h>

#include <array>

namespace crossover::benchmarks {
namespace {

Job Of(double load, double compute, double send) {
  Job job;
  job.iteration_s = load + compute + send;
  job.stage = {load, compute, send};
  return job;
}

// The two jobs take turns: each uses the GPU while the other uses the network.
TEST(MuriTest, TwoJobsTakeTheLongerOfWhatIsSideBySide) {
  const Job a = Of(0, 60, 40), b = Of(0, 50, 30);
  const std::array both{&a, &b};
  EXPECT_NEAR(IdealCycle(both), 110, 1e-9);
  EXPECT_NEAR(PublishedCycle(both), 110 * 1.33 / 1.015, 1e-9);
}

TEST(MuriTest, LoadingGoesOnBesideBoth) {
  const Job a = Of(100, 60, 40), b = Of(100, 60, 40);
  const std::array both{&a, &b};
  EXPECT_NEAR(IdealCycle(both), 200, 1e-9);
}

TEST(MuriTest, OneJobTakesItsIteration) {
  const Job a = Of(10, 20, 30);
  const std::array one{&a};
  EXPECT_NEAR(IdealCycle(one), 60 * 1.015, 1e-9);
}

TEST(MuriTest, NothingBeatsWhatAStageNeeds) {
  const Job a = Of(10, 50, 20), b = Of(30, 20, 40), c = Of(5, 60, 10), d = Of(20, 20, 20);
  const std::array all{&a, &b, &c, &d};
  EXPECT_GE(IdealCycle(all), 150 - 1e-9);
  EXPECT_LE(IdealCycle(all), 80 + 90 + 75 + 60);
}

TEST(MuriTest, StartsTakeAsLongAsPublished) {
  Job job = Of(1, 1, 1);
  job.model = "a2c";
  job.gpus = 8;
  EXPECT_EQ(StartOf(job), 46);
  job.model = "unheard of";
  EXPECT_EQ(StartOf(job), 10);
}

}  // namespace
}  // namespace crossover::benchmarks
