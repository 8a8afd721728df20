#include "extender/gang/tally.h"

#include <gtest/gtest.h>

#include "common/base/names.h"
#include "extender/gang/gangs.h"
#include "tests/unit/extender/gang/made_node.h"

namespace crossover::extender {
namespace {

// Tests one node with two GPUs of two slots, and a leader.
class TallyTest : public ::testing::Test {
 protected:
  TallyTest() {
    PutNode(&world_);
    gangs_ = std::make_unique<Gangs>(world_, GangSettings{}, nullptr, "e");
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
    world_.Put(std::move(pod));
    gangs_->PodChanged(uid, now_s_);
  }
  Tally Look() {
    gangs_->Step(now_s_);
    return TallyOf(gangs_->desk());
  }
  static int Of(const Tally& tally, Wait wait) { return tally.waiting[static_cast<std::size_t>(wait)]; }

  World world_;
  std::unique_ptr<Gangs> gangs_;
  double now_s_ = 2000;
};

TEST_F(TallyTest, NothingIsZero) {
  const Tally tally = Look();
  EXPECT_EQ(tally.placing + tally.running + tally.reservations, 0);
  EXPECT_EQ(tally.oldest_s, 0);
}

TEST_F(TallyTest, TellsWhatGangsWaitFor) {
  Put("half", 0, "2", 1000);
  Put("wrong", 0, "many", 1000);
  for (int i = 0; i < 3; ++i) Put("large", i, "3", 1100 + i);
  for (int i = 0; i < 4; ++i) Put("larger", i, "4", 1050);
  Pod made;
  made.uid = made.name = "made-0";
  made.name_space = "team";
  made.labels = {{"batch.kubernetes.io/job-name", "j"}, {"batch.kubernetes.io/controller-uid", "1"}};
  made.annotations = {{"batch.kubernetes.io/job-completion-index", "0"}};
  made.containers = world_.FindPod("half-0")->containers;
  world_.Put(made);
  gangs_->PodChanged("made-0", now_s_);
  const Tally tally = Look();
  EXPECT_EQ(Of(tally, Wait::kPods), 1);
  EXPECT_EQ(Of(tally, Wait::kCorrection), 1);
  EXPECT_EQ(Of(tally, Wait::kSize), 1);
  EXPECT_EQ(Of(tally, Wait::kPlace), 2);
  EXPECT_EQ(Of(tally, Wait::kHoldOff), 0);
  EXPECT_EQ(tally.oldest_s, 1050) << "who is not complete waits for its own";
}

TEST_F(TallyTest, PodsThatDisagreeWaitForTheirUser) {
  for (int i = 0; i < 2; ++i) Put("unlike", i, "2", 1000);
  Pod pod = *world_.FindPod("unlike-1");
  pod.annotations[base::kShareAnnotation] = "exclusive";
  world_.Put(pod);
  gangs_->PodChanged("unlike-1", now_s_);
  const Tally tally = Look();
  EXPECT_EQ(Of(tally, Wait::kCorrection), 1);
  EXPECT_EQ(Of(tally, Wait::kPlace), 0);
  EXPECT_EQ(tally.oldest_s, 0);
}

TEST_F(TallyTest, AGangIsPlacedThenRuns) {
  for (int i = 0; i < 2; ++i) Put("small", i, "2", 1000);
  Tally tally = Look();
  EXPECT_EQ(tally.placing, 1);
  EXPECT_EQ(tally.reservations, 2);
  EXPECT_EQ(tally.oldest_s, 0) << "no gang waits";
  for (int i = 0; i < 2; ++i) Put("small", i, "2", 1000, "n0");
  tally = Look();
  EXPECT_EQ(tally.placing, 0);
  EXPECT_EQ(tally.running, 1);
  EXPECT_EQ(tally.reservations, 0);
  EXPECT_EQ(tally.lacking, 0);
}

TEST_F(TallyTest, WhoRunsWithoutAPodThatWaitsLacksIt) {
  Put("large", 0, "3", 1000, "n0");
  Put("large", 1, "3", 1000, "n0");
  EXPECT_EQ(Look().lacking, 0) << "it is not there yet";
  Put("large", 2, "3", 1000);
  const Tally tally = Look();
  EXPECT_EQ(tally.running, 1);
  EXPECT_EQ(tally.lacking + tally.reservations, 1);
}

}  // namespace
}  // namespace crossover::extender
