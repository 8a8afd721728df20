#include "extender/shares/share_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class ShareJobsTest : public ::testing::Test {
 protected:
  ShareJobsTest() {
    for (int i = 0; i < 2; ++i) Put(PodOf("train-" + std::to_string(i), "node-" + std::to_string(i)));
    Put("node-0", {{"train-0", 0.1, 0.01, 0}, {"train-0", 0.2, 0, 1}});
    Put("node-1", {{"train-1", 0.4, 0, 3}, {"train-1", 0.3, 0, 2}});
  }

  static Pod PodOf(const std::string& name, const std::string& node) {
    Pod pod;
    pod.uid = name + "-uid";
    pod.name_space = "team";
    pod.name = name;
    pod.node = node;
    pod.running = true;
    pod.annotations = {{"crossover.dev/batch-shares", "true"},
                       {"crossover.dev/gang", "train"},
                       {"crossover.dev/gang-size", "2"}};
    pod.containers.push_back({.name = "main", .slots = 2});
    return pod;
  }
  void Put(Pod pod) { cache_.Put(std::move(pod)); }
  void Put(const char* name, std::vector<GpuNode::Rank> ranks, bool ended = false) {
    GpuNode node;
    node.name = name;
    node.jobs.push_back({.name_space = "team",
                         .gang = "train",
                         .key = "",
                         .at_s = name[5] == '0' ? 9.0 : 7.0,
                         .ended = ended,
                         .ranks = std::move(ranks),
                         .meetings = {}});
    cache_.Put(std::move(node));
  }

  ClusterCache cache_;
};

TEST_F(ShareJobsTest, RanksAreThoseOfAllNodesByNumber) {
  const auto jobs = JobsWithShares(cache_);
  ASSERT_THAT(jobs, SizeIs(1));
  ASSERT_THAT(jobs[0].pods, SizeIs(2));
  EXPECT_EQ(jobs[0].pods[0].pod.name, "train-0");
  ASSERT_THAT(jobs[0].ranks, SizeIs(4));
  std::vector<double> times_s;
  for (const RankTimes& rank : jobs[0].ranks) times_s.push_back(rank.compute_s);
  EXPECT_THAT(times_s, testing::ElementsAre(0.1, 0.2, 0.3, 0.4));
  EXPECT_EQ(jobs[0].ranks[0].wait_s, 0.01);
  EXPECT_EQ(jobs[0].measured_s, 7) << "the oldest";
}

TEST_F(ShareJobsTest, ANeighboursTurnIsInTheWayOfALargerPart) {
  GpuNode node = *cache_.FindGpuNode("node-0");
  node.jobs[0].exposed_s = 0.008;
  node.jobs[0].ranks[0].gpu = "GPU-a";
  node.jobs[0].ranks[1].gpu = "GPU-b";
  GpuNode::Job other = node.jobs[0];
  other.gang = "other";
  other.ranks = {{"other-0", 0.04}};
  other.ranks[0].gpu = "GPU-a";
  node.jobs.push_back(other);
  cache_.Put(node);
  auto ranks = JobsWithShares(cache_)[0].ranks;
  ASSERT_THAT(ranks, SizeIs(4));
  EXPECT_DOUBLE_EQ(ranks[0].wait_s, 0.032) << "its turn takes 40 ms, of which communication hides 8 ms";
  EXPECT_EQ(ranks[1].wait_s, 0) << "nothing else is on that GPU";
  node.jobs[1].ended = true;
  cache_.Put(node);
  EXPECT_EQ(JobsWithShares(cache_)[0].ranks[0].wait_s, 0.01) << "as it is measured";
}

TEST_F(ShareJobsTest, ARankThatIsNotKnownMakesAllUnknown) {
  const std::vector<GpuNode::Rank> wrong[] = {
      {{"train-1", 0.4, 0, 3}},                          // one is missing
      {{"train-1", 0.4, 0, 3}, {"train-1", 0.3, 0, 1}},  // a number is there twice
      {{"train-1", 0.4, 0, 4}, {"train-1", 0.3, 0, 2}},  // there is no such number
      {{"train-1", 0.4, 0, -1}, {"train-1", 0.3, 0, 2}},
      {{"another", 0.4, 0, 3}, {"train-1", 0.3, 0, 2}},
  };
  for (const auto& ranks : wrong) {
    Put("node-1", ranks);
    const auto jobs = JobsWithShares(cache_);
    ASSERT_THAT(jobs, SizeIs(1));
    EXPECT_THAT(jobs[0].ranks, IsEmpty());
  }
  Put("node-1", {{"train-1", 0.4, 0, 3}, {"train-1", 0.3, 0, 2}}, true);
  EXPECT_THAT(JobsWithShares(cache_)[0].ranks, IsEmpty()) << "of an earlier run";
}

// A pod that is made anew gets its weights before it begins.
TEST_F(ShareJobsTest, APodThatDoesNotRunYetMakesTheRanksUnknown) {
  Pod waiting = PodOf("train-1", "node-1");
  waiting.running = false;
  Put(waiting);
  auto jobs = JobsWithShares(cache_);
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_THAT(jobs[0].pods, SizeIs(2));
  EXPECT_THAT(jobs[0].ranks, IsEmpty());
  waiting.over = true;
  Put(waiting);
  jobs = JobsWithShares(cache_);
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_THAT(jobs[0].pods, SizeIs(1));
  EXPECT_THAT(jobs[0].ranks, IsEmpty()) << "the job has two pods";
}

TEST_F(ShareJobsTest, PodsThatDoNotAskAreLeftOut) {
  for (int i = 0; i < 2; ++i) {
    Pod pod = PodOf("train-" + std::to_string(i), "node-0");
    pod.annotations.erase("crossover.dev/batch-shares");
    Put(pod);
  }
  EXPECT_THAT(JobsWithShares(cache_), IsEmpty());
}

}  // namespace
}  // namespace crossover::extender
