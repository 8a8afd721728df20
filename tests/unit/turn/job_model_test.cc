// Tests what the policy makes of jobs of any shape, on several GPUs.
#include "tests/unit/turn/job_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/unit/turn/job_model_arguments.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

struct Rates {
  double least = 1;  // rate of the job that is worse off, relative to its fair share
  int overlaps = 0;
};

// Runs two jobs for ten seconds or more. The first quarter does not count, because the policy is learning.
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
// The pairs below are those of the figure `fair`.
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

// If GPUs decide differently, each job waits for its own slowest rank.
TEST(UnequalJobs, AllGpusDecideAlikeAlsoWhereRanksDiffer) {
  for (const Pair& pair : {ShortAndLong(0.02), ShortAndVeryLong(0.02)}) {
    EXPECT_GE(RatesOf(pair.a, pair.b, {.gpus = 4, .jobs = {}, .policy = {}}).least, 0.92);
  }
}

// The control shows that whole turns starve the job with the short iteration.
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

// Returns the gain of two jobs that stall: a few kernels, 15 ms without input, then the rest of the
// iteration. The gain shows how much of the stalls a neighbour's compute hides.
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

// Returns the work that a GPU does in a time for two jobs that never communicate, over what it does for
// one.
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

// An AloneRun has one job alone on four GPUs. It compares the job's mean step with the one that the draws
// give.
struct AloneRun {
  JobModelOptions options;
  JobModelResult result;
  double step() const { return MeanStepWithin(result, 0, 0, result.ends[0].back()); }
  double drawn() const { return MeanAloneWithin(options, result, 0, 0, result.ends[0].back()); }
};
AloneRun RunAlone(const JobShape& shape) {
  AloneRun run;
  run.options.gpus = 4;
  run.options.hand_over = 0;
  run.options.jobs = {shape};
  run.options.iterations = 2000;
  run.options.way = Way::kSideBySide;
  run.result = RunJobModel(run.options);
  return run;
}

TEST(AdverseDraws, AJobAloneTakesItsSlowestRankAndItsAllReduce) {
  for (const JobShape& shape : {JobShape{.jitter = 0.05}, JobShape{.tail = 0.05}, JobShape{.batch = 0.4},
                                JobShape{.jitter = 0.05, .tail = 0.1, .batch = 0.2}}) {
    const AloneRun run = RunAlone(shape);
    EXPECT_NEAR(run.step() / run.drawn(), 1, 1e-4);
  }
}

// One or more of four ranks is a straggler in 1 - 0.95^4 of the iterations. The longest of k takes 1 +
// 2k/(k+1).
TEST(AdverseDraws, StragglersMakeTheMeanOfTheSlowestRankAsLongAsTheirShareSays) {
  const double p = 0.05;
  double expected = 1;
  const double ways[] = {1, 4, 6, 4, 1};
  for (int k = 1; k <= 4; ++k)
    expected += ways[k] * std::pow(p, k) * std::pow(1 - p, 4 - k) * 2 * k / (k + 1);
  const AloneRun run = RunAlone({.tail = p});
  EXPECT_NEAR((run.step() - 12 * kMs) / (20 * kMs), expected, 0.02);
}

TEST(AdverseDraws, BatchesAreAlikeOnAllRanksAndAsLongAsTheirMean) {
  const JobShape shape{.batch = 0.4};
  EXPECT_EQ(ComputeFactor(shape, 1, 0, 0, 7), ComputeFactor(shape, 1, 3, 0, 7));
  EXPECT_NE(ComputeFactor(shape, 1, 0, 0, 7), ComputeFactor(shape, 1, 0, 0, 8));
  EXPECT_NE(ComputeFactor(shape, 1, 0, 0, 7), ComputeFactor(shape, 1, 0, 1, 7));
  EXPECT_NEAR((RunAlone(shape).step() - 12 * kMs) / (20 * kMs), 1, 0.03);
}

// Returns the mean step of two jobs that take turns, with c = 20 ms and m = 12 ms. The whole collective of
// each runs beside the compute of the other.
double TurnsWith(double spinning, double slow_comm) {
  JobModelOptions options;
  options.gpus = 4;
  options.hand_over = 0;
  options.spinning = spinning;
  options.slow_comm = slow_comm;
  options.jobs = {JobShape{}, JobShape{}};
  options.iterations = 200;
  const JobModelResult result = RunJobModel(options);
  const Time end = std::min(result.ends[0].back(), result.ends[1].back());
  return MeanStepWithin(result, 0, end / 2, end);
}

TEST(AdverseCollectives, TakeWhatTheyAreSaidToTake) {
  EXPECT_NEAR(TurnsWith(0, 0) / (40 * kMs), 1, 0.01);
  // 12 of the 20 ms are computed at 0.7 of the speed: 12 + (20 - 12 * 0.7) = 23.6.
  EXPECT_NEAR(TurnsWith(0.3, 0) / (47.2 * kMs), 1, 0.01);
  EXPECT_NEAR(TurnsWith(0, 0.5) / (40 * kMs), 1, 0.01) << "18 ms are still hidden behind 20";
  // 24 ms are not hidden. After 20 ms, 2 of the first job's 12 ms are left, and run at full speed because
  // nothing computes. So do 2 ms of the second job's own. Its other 10 ms then take exactly the 20 ms in
  // which the first job computes.
  EXPECT_NEAR(TurnsWith(0, 1) / (42 * kMs), 1, 0.01);
}

std::string RefusalOf(const std::vector<std::string_view>& texts) {
  auto parsed = ParseJobModelArguments(texts);
  const auto* error = std::get_if<std::string>(&parsed);
  return error == nullptr ? "" : *error;
}

TEST(JobModelArguments, WhatIsUnknownOrImpossibleIsRefusedWithItsName) {
  using testing::HasSubstr;
  EXPECT_THAT(RefusalOf({"tale=0.1", "job=20,12"}),
              HasSubstr("tale=0.1: expected a KEY that is one of gpus, "));
  EXPECT_THAT(RefusalOf({"tail", "job=20,12"}), HasSubstr("tail: expected KEY=VALUE"));
  for (const char* bad : {"tail=-0.1",
                          "tail=1.1",
                          "tail=",
                          "tail=0.1x",
                          "tail=nan",
                          "batch=2",
                          "spinning=1",
                          "slow_comm=-1",
                          "gpus=0",
                          "gpus=1.5",
                          "seed=-1",
                          "way=turn",
                          "links=public",
                          "width=0",
                          "caps=0.5",
                          "caps=1.2,",
                          "job=20",
                          "job=0,12",
                          "job=20,12,0.5",
                          "job=20,12,0,500,0,urgent",
                          "job=20,12,0,500,0,low,1"}) {
    EXPECT_THAT(RefusalOf({bad, "job=20,12"}), HasSubstr(std::string(bad) + ": expected ")) << bad;
  }
  EXPECT_THAT(RefusalOf({"tail=0.1"}), HasSubstr("job: expected one at least"));
  EXPECT_THAT(RefusalOf({"caps=1.2,1.3", "job=20,12"}), HasSubstr("caps: expected 1 at most"));
  EXPECT_THAT(RefusalOf({"spinning=0.5", "job=20,12", "job=20,12"}),
              HasSubstr("spinning: expected 0.95 at most"));
}

TEST(JobModelArguments, WhatBelongsToAllJobsMayStandAnywhere) {
  const std::vector<std::string_view> texts = {"job=20,12,.05", "width=0.7", "tail=.1", "batch=0.2",
                                               "job=5,1"};
  const auto parsed = ParseJobModelArguments(texts);
  const auto* arguments = std::get_if<JobModelArguments>(&parsed);
  ASSERT_NE(arguments, nullptr);
  ASSERT_EQ(arguments->options.jobs.size(), 2u);
  for (const JobShape& job : arguments->options.jobs) {
    EXPECT_EQ(job.width, 0.7);
    EXPECT_EQ(job.tail, 0.1);
    EXPECT_EQ(job.batch, 0.2);
  }
  EXPECT_EQ(arguments->options.jobs[0].jitter, 0.05);
}

}  // namespace
}  // namespace crossover::turn::test
