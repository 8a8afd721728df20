#include "benchmarks/placement/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "benchmarks/placement/policies.h"
#include "benchmarks/placement/traces/read.h"

namespace crossover::benchmarks {
namespace {

// Checks what a policy gives out, and passes it on.
class Watched : public Policy {
 public:
  Watched(std::unique_ptr<Policy> policy, const Cluster& cluster, int together)
      : policy_(std::move(policy)), most_(cluster.nodes * cluster.gpus_per_node * together) {}
  std::vector<Run> Decide(const Situation& at) override {
    std::vector<Run> runs = policy_->Decide(at);
    int gpus = 0;
    double held = 0;
    for (const Run& run : runs) {
      gpus += run.job->gpus;
      held += static_cast<double>(run.job->gpus) / run.together;
      EXPECT_GE(run.iteration_s, run.job->iteration_s) << "faster than alone";
      EXPECT_FALSE(run.nodes.empty());
      for (const int node : run.nodes)
        EXPECT_TRUE(at.up[static_cast<std::size_t>(node)]) << "on a node that is down";
    }
    EXPECT_LE(gpus, most_);
    EXPECT_LE(held, 8.0 * static_cast<double>(std::ranges::count(at.up, true)) + 1e-9);
    return runs;
  }

 private:
  std::unique_ptr<Policy> policy_;
  int most_;
};

const Cluster kTwoJobs{.nodes = 2, .gpus_per_node = 8};

Outcome Of(std::unique_ptr<Policy> policy, int together, const Failing& failing = {}) {
  static const std::vector<Job> jobs = ReadTrace({.path = TRACE}).jobs;
  Watched watched(std::move(policy), kTwoJobs, together);
  return Simulate(jobs, watched, kTwoJobs, failing);
}

TEST(SimulateTest, EveryPolicyEndsEveryJob) {
  EXPECT_EQ(Of(MakeFifo(kTwoJobs), 1).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeShortest(kTwoJobs), 1).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeRandom(kTwoJobs, 1, 1), 2).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeMuriS(kTwoJobs), 4).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeMuriL(kTwoJobs), 4).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeShipped(kTwoJobs, {}, 2), 2).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeShipped(kTwoJobs, {}, 4), 4).jobs.size(), 5u);
  EXPECT_EQ(Of(MakePowers(kTwoJobs, 0.95), 4).jobs.size(), 5u);
}

// These figures are calculated by hand. 0 and 1 take 10 s to start and 1015 s on all GPUs. Then the two of 4
// GPUs run beside each other, of which the longer takes 10 s and 406 s. Then comes the one of 16 GPUs. The
// time of a start shows only if something happens before the job's end, as in Muri's simulator.
TEST(SimulateTest, ExclusiveFirstComeFirstServed) {
  const Outcome outcome = Of(MakeFifo(kTwoJobs), 1);
  EXPECT_EQ(outcome.jobs.front().job->id, 0);
  EXPECT_NEAR(outcome.jobs.front().end_s, 1025, 1e-6);
  EXPECT_EQ(outcome.jobs.back().job->id, 3);
  EXPECT_NEAR(outcome.makespan_s(), 1025 + 416 + 203, 1e-6);
}

// 0 and 1 each need the GPU for half of the time. Together they end no later than alone.
TEST(SimulateTest, WhoSharesEndsEarlier) {
  const Outcome exclusive = Of(MakeFifo(kTwoJobs), 1), powers = Of(MakePowers(kTwoJobs, 0.95), 4);
  EXPECT_LT(powers.makespan_s(), exclusive.makespan_s());
  EXPECT_LT(powers.mean_completion_s(), exclusive.mean_completion_s());
}

// These figures are calculated by hand, on 16 GPUs: all are held for 1025 s, then eight for 416 s (314.5 s
// of it only four), then all for 203 s.
TEST(SimulateTest, OccupancyIsWhatWasHeldOfWhatWasThere) {
  const Outcome outcome = Of(MakeFifo(kTwoJobs), 1);
  EXPECT_NEAR(outcome.there_gpu_s, 16 * outcome.makespan_s(), 1e-6);
  EXPECT_GT(outcome.occupancy(), 0.8);
  EXPECT_LT(outcome.occupancy(), 1);
  EXPECT_LT(Of(MakePowers(kTwoJobs, 0.95), 4).held_gpu_s, outcome.held_gpu_s) << "who shares holds less";
}

TEST(SimulateTest, WaitsAndQuantiles) {
  const Outcome outcome = Of(MakeFifo(kTwoJobs), 1);
  EXPECT_EQ(outcome.Quantile(0, &Ended::wait_s), 0);
  EXPECT_NEAR(outcome.Quantile(1, &Ended::wait_s), 1025 + 416 - 20, 1e-6) << "the one of 16 GPUs";
  EXPECT_NEAR(outcome.Quantile(0.4, &Ended::wait_s), 0, 1e-6) << "the first two";
}

TEST(SimulateTest, GangsOfANodeThatFailsStartAgain) {
  const Failing often{.mean_up_s = 700, .down_s = 300, .checkpoint_s = 200, .seed = 1};
  Failing lossy = often;
  lossy.checkpoint_s = 1e9;  // each restart begins at the first iteration
  const auto policies = {
      +[] { return MakeFifo(kTwoJobs); },         +[] { return MakeShortest(kTwoJobs); },
      +[] { return MakeRandom(kTwoJobs, 1, 1); }, +[] { return MakeMuriS(kTwoJobs); },
      +[] { return MakeMuriL(kTwoJobs); },        +[] { return MakeShipped(kTwoJobs, {}, 4); },
      +[] { return MakePowers(kTwoJobs, 0.95); }};
  for (const auto& make : policies) {
    const Outcome sound = Of(make(), 4), failing = Of(make(), 4, often), again = Of(make(), 4, often);
    EXPECT_EQ(failing.jobs.size(), 5u);
    EXPECT_GT(failing.restarts(), 0);
    EXPECT_GT(failing.makespan_s(), sound.makespan_s());
    EXPECT_EQ(failing.makespan_s(), again.makespan_s()) << "by the seed alone";
    EXPECT_LT(failing.there_gpu_s, 16 * failing.makespan_s());
    EXPECT_GT(Of(make(), 4, lossy).mean_completion_s(), failing.mean_completion_s());
  }
}

TEST(FailuresTest, NodesFailAndReturn) {
  Failures failures(3, {.mean_up_s = 1000, .down_s = 10, .checkpoint_s = 1, .seed = 7});
  double before_s = 0, up_s = 0;
  std::vector<double> since_s(3, 0);
  int fallen = 0;
  for (int i = 0; i < 6000; ++i) {
    const double at_s = failures.next_s();
    ASSERT_GE(at_s, before_s);
    before_s = at_s;
    const auto node = static_cast<std::size_t>(failures.Pass());
    if (failures.up()[node]) {
      EXPECT_NEAR(at_s - since_s[node], 10, 1e-6);
    } else {
      up_s += at_s - since_s[node];
      ++fallen;
    }
    since_s[node] = at_s;
  }
  EXPECT_NEAR(up_s / fallen, 1000, 100);
  EXPECT_EQ(Failures(3, {}).next_s(), HUGE_VAL);
}

TEST(SimulateTest, AJobThatFitsNowhereIsNamed) {
  const std::vector<Job> jobs = ReadTrace({.path = TRACE}).jobs;
  const Cluster one{.nodes = 1, .gpus_per_node = 8};
  const auto policy = MakeFifo(one);
  EXPECT_THROW(Simulate(jobs, *policy, one), std::runtime_error);
}

}  // namespace
}  // namespace crossover::benchmarks
