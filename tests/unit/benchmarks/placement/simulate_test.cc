#include "benchmarks/placement/simulate.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "benchmarks/placement/policies.h"

namespace crossover::benchmarks {
namespace {

// Counts what a policy gives out, and passes it on.
class Watched : public Policy {
 public:
  Watched(std::unique_ptr<Policy> policy, const Cluster& cluster, int together)
      : policy_(std::move(policy)), most_(cluster.nodes * cluster.gpus_per_node * together) {}
  std::vector<Run> Decide(const std::vector<Live>& live, double now_s) override {
    std::vector<Run> runs = policy_->Decide(live, now_s);
    int gpus = 0;
    for (const Run& run : runs) {
      gpus += run.job->gpus;
      EXPECT_GE(run.iteration_s, run.job->iteration_s) << "faster than alone";
    }
    EXPECT_LE(gpus, most_);
    return runs;
  }

 private:
  std::unique_ptr<Policy> policy_;
  int most_;
};

const Cluster kTwo{.nodes = 2, .gpus_per_node = 8};

Outcome Of(std::unique_ptr<Policy> policy, int together) {
  static const std::vector<Job> jobs = ReadTrace(TRACE);
  Watched watched(std::move(policy), kTwo, together);
  return Simulate(jobs, watched);
}

TEST(SimulateTest, EveryPolicyEndsEveryJob) {
  EXPECT_EQ(Of(MakeFifo(kTwo), 1).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeShortest(kTwo), 1).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeRandom(kTwo, 1, 1), 2).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeMuri(kTwo), 4).jobs.size(), 5u);
  EXPECT_EQ(Of(MakeShipped(kTwo, {}), 2).jobs.size(), 5u);
  EXPECT_EQ(Of(MakePowers(kTwo, 0.95), 4).jobs.size(), 5u);
}

// By hand: 0 and 1 take 10 s to start and 1015 s on all GPUs; then the two of 4 GPUs beside each other, of
// which the longer takes 10 s and 406 s; then the one of 16 GPUs. What a start takes only shows where
// something happens before the job's end: so it is in Muri's simulator.
TEST(SimulateTest, ExclusiveFirstComeFirstServed) {
  const Outcome outcome = Of(MakeFifo(kTwo), 1);
  EXPECT_EQ(outcome.jobs.front().job->id, 0);
  EXPECT_NEAR(outcome.jobs.front().end_s, 1025, 1e-6);
  EXPECT_EQ(outcome.jobs.back().job->id, 3);
  EXPECT_NEAR(outcome.makespan_s(), 1025 + 416 + 203, 1e-6);
}

// 0 and 1 need the GPU for half of the time: together they would end no later.
TEST(SimulateTest, WhoSharesEndsEarlier) {
  const Outcome exclusive = Of(MakeFifo(kTwo), 1), powers = Of(MakePowers(kTwo, 0.95), 4);
  EXPECT_LT(powers.makespan_s(), exclusive.makespan_s());
  EXPECT_LT(powers.mean_completion_s(), exclusive.mean_completion_s());
}

TEST(SimulateTest, AJobThatFitsNowhereIsNamed) {
  const std::vector<Job> jobs = ReadTrace(TRACE);
  const Cluster one{.nodes = 1, .gpus_per_node = 8};
  const auto policy = MakeFifo(one);
  EXPECT_THROW(Simulate(jobs, *policy), std::runtime_error);
}

}  // namespace
}  // namespace crossover::benchmarks
