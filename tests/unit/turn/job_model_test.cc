// What the policy makes of jobs of any shape, on several GPUs.
#include "tests/unit/turn/job_model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

struct Rates {
  double least = 1;  // of its share, the worse off
  int overlaps = 0;
};

// Ten seconds and more of two jobs; the first quarter is for learning.
Rates RatesOf(const JobShape& a, const JobShape& b, const JobModelOptions& base = {}) {
  JobModelOptions options = base;
  options.jobs = {a, b};
  const Time longest = std::max(a.compute + a.communicate, b.compute + b.communicate);
  options.iterations = static_cast<int>(5'000 * kMs / longest);
  const JobModelResult result = RunJobModel(options);
  const Time end = std::min(result.ends[0].back(), result.ends[1].back());
  double use = 0;
  for (const JobShape& job : options.jobs) {
    use += static_cast<double>(job.compute) / static_cast<double>(job.compute + job.communicate);
  }
  const double fair = std::min(1.0, 1 / use);
  Rates rates{.overlaps = result.overlaps};
  for (std::size_t job = 0; job < 2; ++job) {
    const auto alone = static_cast<double>(options.jobs[job].compute + options.jobs[job].communicate);
    rates.least = std::min(rates.least, alone / MeanStepWithin(result, job, end / 4, end) / fair);
  }
  return rates;
}

struct Pair {
  JobShape a, b;
};
// The pairs of the figure `fair`.
Pair ShortAndLong(double jitter) {
  return {{.compute = 10 * kMs, .communicate = 10 * kMs, .jitter = jitter},
          {.compute = 40 * kMs, .communicate = 8 * kMs, .jitter = jitter}};
}
Pair ComputeAndCommunicate(double jitter) {
  return {{.compute = 20 * kMs, .communicate = 4 * kMs, .jitter = jitter},
          {.compute = 5 * kMs, .communicate = 20 * kMs, .jitter = jitter}};
}
Pair ShortAndVeryLong(double jitter) {
  return {{.compute = 500 * kMs, .communicate = 50 * kMs, .jitter = jitter},
          {.compute = 20 * kMs, .communicate = 20 * kMs, .jitter = jitter}};
}

TEST(UnequalJobs, GetTheirSharesOnOneGpuAndOnMany) {
  for (const int gpus : {1, 4, 16}) {
    for (const Pair& pair : {ShortAndLong(0), ComputeAndCommunicate(0), ShortAndVeryLong(0)}) {
      EXPECT_GE(RatesOf(pair.a, pair.b, {.gpus = gpus, .jobs = {}, .policy = {}}).least, 0.95)
          << gpus << " GPUs, c = " << pair.a.compute / kMs << " and " << pair.b.compute / kMs << " ms";
    }
  }
}

// Where GPUs decide differently, each job waits for its own slowest rank.
TEST(UnequalJobs, AllGpusDecideAlikeAlsoWhereRanksDiffer) {
  for (const Pair& pair : {ShortAndLong(0.02), ShortAndVeryLong(0.02)}) {
    EXPECT_GE(RatesOf(pair.a, pair.b, {.gpus = 4, .jobs = {}, .policy = {}}).least, 0.92);
  }
}

// Control: whole turns starve the short one.
TEST(UnequalJobsControl, WithoutAQuantumTheShortOneStarves) {
  JobModelOptions options;
  options.policy.quantum = 0;
  const Pair pair = ShortAndLong(0);
  EXPECT_LT(RatesOf(pair.a, pair.b, options).least, 0.6);
}

TEST(UnequalJobs, OnlyTheFirstTurnsOfALongOneAreOverlapped) {
  const Pair pair = ShortAndVeryLong(0);
  EXPECT_LE(RatesOf(pair.a, pair.b, {.gpus = 1, .jobs = {}, .policy = {}}).overlaps, 10)
      << "the watchdog does not know how long they are";
}

// A few kernels, 15 ms without input, then the iteration: what is hidden of the stalls by a neighbour.
double GainOfStallingJobs(const PolicySettings& policy) {
  const JobShape shape{.compute = 19 * kMs, .communicate = 12 * kMs, .prologue = kMs, .stall = 15 * kMs};
  JobModelOptions options;
  options.gpus = 4;
  options.jobs = {shape, shape};
  options.policy = policy;
  options.iterations = 200;
  const JobModelResult result = RunJobModel(options);
  EXPECT_EQ(result.overlaps, 0);
  const Time end = std::min(result.ends[0].back(), result.ends[1].back());
  return 2 * 47 * kMs / MeanStepWithin(result, 0, end / 4, end);
}

TEST(StallsInTheModel, AFewKernelsBeforeAStallNeedNotWaitForAWholeTurn) {
  EXPECT_GE(GainOfStallingJobs({}), 1.84);
  EXPECT_LE(GainOfStallingJobs({.quantum = 0}), 1.75);
}

// Two jobs that never communicate: what a GPU does of both in a time, over what it does of one.
double JointSpeed(double co_run, double width, Way way) {
  const JobShape shape{.compute = 20 * kMs, .communicate = 1, .width = width};
  JobModelOptions options;
  options.gpus = 1;
  options.jobs = {shape, shape};
  options.co_run = co_run;
  options.hand_over = 1;
  options.way = way;
  const JobModelResult result = RunJobModel(options);
  const Time end = std::min(result.ends[0].back(), result.ends[1].back());
  return 2 * 20 * kMs / MeanStepWithin(result, 0, end / 4, end);
}

TEST(CoRunInTheModel, KernelsOfTwoJobsAtOnceRunThatMuchFaster) {
  EXPECT_NEAR(JointSpeed(1.0, 1, Way::kSideBySide), 1.0, 0.001);
  EXPECT_NEAR(JointSpeed(1.25, 1, Way::kSideBySide), 1.25, 0.001);
  EXPECT_NEAR(JointSpeed(0.9, 1, Way::kSideBySide), 0.9, 0.001);
  EXPECT_NEAR(JointSpeed(0.9, 0.4, Way::kSideBySide), 1.8, 0.001) << "kernels that both fit into the GPU";
  EXPECT_NEAR(JointSpeed(1.25, 0.4, Way::kSideBySide), 2.0, 0.001) << "no kernel is faster than alone";
  EXPECT_NEAR(JointSpeed(1.25, 1, Way::kTurns), 1.0, 0.01) << "by turns no kernels run at once";
}

TEST(PriorityInTheModel, AHighJobIsHardlySlowedAndTheLowOneIsServed) {
  const JobShape high{.compute = 20 * kMs, .communicate = 20 * kMs, .priority = Priority::kHigh};
  const JobShape low{
      .compute = 500 * kMs, .communicate = 50 * kMs, .kernel = kMs / 2, .priority = Priority::kLow};
  JobModelOptions options;
  options.gpus = 4;
  options.jobs = {high, low};
  options.iterations = 200;
  const JobModelResult result = RunJobModel(options);
  const Time end = std::min(result.ends[0].back(), result.ends[1].back());
  EXPECT_LT(MeanStepWithin(result, 0, end / 4, end), 1.03 * 40 * kMs);
  EXPECT_LE(result.longest_wait[1], 1'000 * kMs);
}

}  // namespace
}  // namespace crossover::turn::test
