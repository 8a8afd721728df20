#include "extender/gang/gang_stats.h"

#include <gtest/gtest.h>

#include "common/base/names.h"
#include "extender/gang/gangs.h"
#include "tests/unit/extender/gang/made_node.h"

namespace crossover::extender {
namespace {

// Tests one node with two GPUs of two slots, and a leader.
class GangStatsTest : public ::testing::Test {
 protected:
  GangStatsTest() {
    PutNode(&cache_);
    gangs_ = std::make_unique<Gangs>(cache_, GangSettings{}, nullptr, "e");
  }

  // Adds a pod of a gang that shares with no other gang, because it names no bound on its memory.
  void Put(const std::string& gang, int index, const std::string& size, double created_s,
           const std::string& node = "") {
    Pod pod;
    pod.uid = pod.name = gang + "-" + std::to_string(index);
    pod.name_space = "team";
    pod.created_s = created_s;
    pod.gates = {base::kGangGate};
    pod.node = node;
    pod.annotations = {{base::kGangAnnotation, gang}, {base::kGangSizeAnnotation, size}};
    Container container;
    container.name = "main";
    container.slots = 1;
    pod.containers = {container};
    const std::string uid = pod.uid;
    cache_.Put(std::move(pod));
    gangs_->PodChanged(uid, now_s_);
  }
  GangStats Look() {
    gangs_->Step(now_s_);
    return GangStatsOf(gangs_->store());
  }
  static int Of(const GangStats& stats, Wait wait) { return stats.waiting[static_cast<std::size_t>(wait)]; }

  ClusterCache cache_;
  std::unique_ptr<Gangs> gangs_;
  double now_s_ = 2000;
};

TEST_F(GangStatsTest, NothingIsZero) {
  const GangStats stats = Look();
  EXPECT_EQ(stats.placing + stats.running + stats.lacking + stats.claims + stats.reservations, 0);
  EXPECT_EQ(stats.gangs_left, 0u);
  EXPECT_EQ(stats.oldest_s, 0);
}

TEST_F(GangStatsTest, TellsWhatGangsWaitFor) {
  Put("half", 0, "2", 1000);
  Put("wrong", 0, "many", 1000);
  for (int i = 0; i < 3; ++i) Put("large", i, "3", 1100 + i);
  for (int i = 0; i < 4; ++i) Put("larger", i, "4", 1050);
  Pod made;
  made.uid = made.name = "made-0";
  made.name_space = "team";
  made.labels = {{"batch.kubernetes.io/job-name", "j"}, {"batch.kubernetes.io/controller-uid", "1"}};
  made.annotations = {{"batch.kubernetes.io/job-completion-index", "0"}};
  made.containers = cache_.FindPod("half-0")->containers;
  cache_.Put(made);
  gangs_->PodChanged("made-0", now_s_);
  const GangStats stats = Look();
  EXPECT_EQ(Of(stats, Wait::kPods), 1);
  EXPECT_EQ(Of(stats, Wait::kCorrection), 1);
  EXPECT_EQ(Of(stats, Wait::kSize), 1);
  EXPECT_EQ(Of(stats, Wait::kPlace), 2);
  EXPECT_EQ(Of(stats, Wait::kHoldOff), 0);
  EXPECT_EQ(stats.oldest_s, 1050) << "who is not complete waits for its own";
}

TEST_F(GangStatsTest, PodsThatDisagreeWaitForTheirUser) {
  for (int i = 0; i < 2; ++i) Put("unlike", i, "2", 1000);
  Pod pod = *cache_.FindPod("unlike-1");
  pod.annotations[base::kShareAnnotation] = "exclusive";
  cache_.Put(pod);
  gangs_->PodChanged("unlike-1", now_s_);
  const GangStats stats = Look();
  EXPECT_EQ(Of(stats, Wait::kCorrection), 1);
  EXPECT_EQ(Of(stats, Wait::kPlace), 0);
  EXPECT_EQ(stats.oldest_s, 0);
}

TEST_F(GangStatsTest, AGangIsPlacedThenRuns) {
  for (int i = 0; i < 2; ++i) Put("small", i, "2", 1000);
  GangStats stats = Look();
  EXPECT_EQ(stats.placing, 1);
  EXPECT_EQ(stats.reservations, 2);
  EXPECT_EQ(stats.oldest_s, 0) << "no gang waits";
  for (int i = 0; i < 2; ++i) Put("small", i, "2", 1000, "n0");
  stats = Look();
  EXPECT_EQ(stats.placing, 0);
  EXPECT_EQ(stats.running, 1);
  EXPECT_EQ(stats.reservations, 0);
  EXPECT_EQ(stats.lacking, 0);
}

TEST_F(GangStatsTest, WhoRunsWithoutAPodThatWaitsLacksIt) {
  Put("large", 0, "3", 1000, "n0");
  Put("large", 1, "3", 1000, "n0");
  EXPECT_EQ(Look().lacking, 0) << "it is not there yet";
  Put("large", 2, "3", 1000);
  const GangStats stats = Look();
  EXPECT_EQ(stats.running, 1);
  EXPECT_EQ(stats.lacking + stats.reservations, 1);
}

}  // namespace
}  // namespace crossover::extender
