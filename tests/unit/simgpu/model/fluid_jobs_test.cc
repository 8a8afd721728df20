// Compares two training jobs that run freely on one GPU with closed forms. Each job computes for c, then
// communicates for m, again and again. These are the baselines that everything is compared with, so they
// must be right.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "simgpu/model/fluid.h"

namespace simgpu {
namespace {

constexpr Nanos kMs = 1'000'000;

struct Job {
  Nanos compute;
  Nanos communication;
  double held_sms = 0;  // SMs that the collective holds while it communicates
  // The fields from here on are the job's progress.
  int tenant = -1;
  double compute_end = 0;
  bool computing = false;
  Nanos next = 0;  // when it starts to compute, while it communicates
  std::vector<Nanos> starts = {};
};

void StartComputing(Fluid& fluid, Job& job) {
  fluid.SetSpinning(job.tenant, 0);
  job.compute_end = fluid.Extend(job.tenant, 132, 1.0, static_cast<double>(job.compute));
  job.computing = true;
  job.starts.push_back(fluid.now());
}

void StartCommunicating(Fluid& fluid, Job& job) {
  fluid.SetSpinning(job.tenant, job.held_sms);
  job.computing = false;
  job.next = fluid.now() + job.communication;
}

Nanos NextChange(const Fluid& fluid, const Job& job) {
  return job.computing ? fluid.FinishTime(job.tenant, job.compute_end) : job.next;
}

// Runs the jobs until `until`. Job i starts at offsets[i].
void RunJobs(const ShareRules& rules, std::vector<Job>& jobs, const std::vector<Nanos>& offsets,
             Nanos until) {
  auto fluid = std::make_unique<Fluid>();
  fluid->Reset(rules, 0);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].tenant = fluid->Add(static_cast<std::uint32_t>(i + 1));
    jobs[i].next = offsets[i];
  }
  while (fluid->now() < until) {
    Nanos next = until;
    for (const Job& job : jobs) next = std::min(next, NextChange(*fluid, job));
    fluid->Advance(next);
    for (Job& job : jobs) {
      if (job.computing && fluid->Served(job.tenant) >= job.compute_end) {
        StartCommunicating(*fluid, job);
      } else if (!job.computing && job.next <= fluid->now()) {
        StartComputing(*fluid, job);
      }
    }
  }
}

void RunJobs(ShareMode mode, Nanos quantum, std::vector<Job>& jobs, const std::vector<Nanos>& offsets,
             Nanos until) {
  RunJobs({.mode = mode, .capacity = 132, .quantum = quantum}, jobs, offsets, until);
}

double MeanStep(const Job& job, std::size_t skip) {
  const auto steps = static_cast<double>(job.starts.size() - 1 - skip);
  return static_cast<double>(job.starts.back() - job.starts[skip]) / steps;
}

// A runs alone for delta, then both share the GPU for 2 (c - delta), and then A is away while B ends. The
// compute takes 2c - delta in all, and the offset reproduces itself as long as delta <= m.
TEST(FluidJobsTest, EqualJobsSharingKeepTheirOffset) {
  const Nanos c = 20 * kMs, m = 12 * kMs;
  for (const Nanos delta : {Nanos{0}, 3 * kMs, 7 * kMs, 12 * kMs}) {
    std::vector<Job> jobs(2, Job{c, m, 0});
    RunJobs(ShareMode::kShared, kMs, jobs, {0, delta}, 2000 * kMs);
    for (const Job& job : jobs) {
      EXPECT_NEAR(MeanStep(job, 2), static_cast<double>(2 * c + m - delta), 10) << "offset " << delta;
    }
  }
}

// While both compute, each runs at f / 2. A's remaining c - delta takes 2 (c - delta) / f. A is alone for
// delta before that, and B for delta after it.
TEST(FluidJobsTest, EqualJobsThatGainByRunningAtOnce) {
  const double c = 20.0 * kMs, m = 12.0 * kMs;
  for (const double f : {0.9, 1.1, 1.25, 1.4}) {
    for (const double delta : {0.0, 7.0 * kMs, 12.0 * kMs}) {
      std::vector<Job> jobs(2, Job{20 * kMs, 12 * kMs, 0});
      RunJobs({.capacity = 132, .co_run = f}, jobs, {0, static_cast<Nanos>(delta)}, 2000 * kMs);
      for (const Job& job : jobs) {
        EXPECT_NEAR(MeanStep(job, 2), delta + 2 * (c - delta) / f + m, 10) << f << " offset " << delta;
      }
    }
  }
}

// With m >= c the second job starts when the first has computed. Their computes do not overlap, and each
// job runs as if alone.
TEST(FluidJobsTest, InterleavedJobsDoNotSlowEachOther) {
  std::vector<Job> jobs(2, Job{10 * kMs, 15 * kMs, 0});
  RunJobs(ShareMode::kShared, kMs, jobs, {0, 12 * kMs}, 1000 * kMs);
  for (const Job& job : jobs) EXPECT_NEAR(MeanStep(job, 0), 25.0 * kMs, 2);
}

// The jobs run in step, and 4 of 132 SMs spin while both communicate. Nothing is lost, because no job
// computes then.
TEST(FluidJobsTest, JobsInStepLoseNothingToSpinning) {
  std::vector<Job> jobs(2, Job{20 * kMs, 12 * kMs, 4});
  RunJobs(ShareMode::kShared, kMs, jobs, {0, 0}, 2000 * kMs);
  EXPECT_NEAR(MeanStep(jobs[0], 0), 52.0 * kMs, 2);
}

// The offset lets each job communicate wholly beside the other's compute. While both compute they share the
// GPU; while one communicates the other computes at 128/132. Let x be the time of a step in which both
// compute. Then x/2 + m * 128/132 = c, and a step takes x + 2m.
TEST(FluidJobsTest, SpinningCollectivesCostTheirSms) {
  const double c = 20.0 * kMs, m = 12.0 * kMs, speed = 128.0 / 132;
  std::vector<Job> jobs(2, Job{20 * kMs, 12 * kMs, 4});
  RunJobs(ShareMode::kShared, kMs, jobs, {0, 16 * kMs}, 4000 * kMs);
  // In one step, the compute progresses at `speed` for m, beside the other's communication, and at one half
  // otherwise.
  const double shared = 2 * (c - speed * m);
  EXPECT_NEAR(MeanStep(jobs[0], 20), shared + m + m, 0.002 * (shared + 2 * m));
}

// The GPU runs one process at a time. Each step of two equal jobs without communication takes twice as
// long.
TEST(FluidJobsTest, TimeslicingHalvesEqualJobs) {
  std::vector<Job> jobs(2, Job{20 * kMs, 1, 0});
  RunJobs(ShareMode::kTimeslice, 2 * kMs, jobs, {0, 0}, 2000 * kMs);
  for (const Job& job : jobs) EXPECT_NEAR(MeanStep(job, 1), 40.0 * kMs, 0.05 * kMs);
}

// Spinning burns slices: while A communicates, B gets only every other slice. The demands of both jobs,
// spinning included, fill the GPU: in step, both compute for 2c and both spin for m.
TEST(FluidJobsTest, TimeslicingInStep) {
  std::vector<Job> jobs(2, Job{20 * kMs, 12 * kMs, 4});
  RunJobs(ShareMode::kTimeslice, 2 * kMs, jobs, {0, 0}, 3000 * kMs);
  // Each c has 10 slices: A ends after 38 ms, and B after 40. Both spin for 12 ms behind that.
  for (const Job& job : jobs) EXPECT_NEAR(MeanStep(job, 2), 52.0 * kMs, 2.1 * kMs);
}

// Out of step the collective burns slices: B computes at half speed beside A's communication, so no offset
// gains anything. In `shared` mode the same offset saves m.
TEST(FluidJobsTest, TimeslicingGainsNothingFromAnOffset) {
  std::vector<Job> jobs(2, Job{20 * kMs, 12 * kMs, 4});
  RunJobs(ShareMode::kTimeslice, 100'000, jobs, {0, 16 * kMs}, 4000 * kMs);
  // Each job gets half of the slices whatever the other one does: a step is 2c + m at any offset.
  for (const Job& job : jobs) EXPECT_NEAR(MeanStep(job, 4), 52.0 * kMs, 0.3 * kMs);
}

}  // namespace
}  // namespace simgpu
