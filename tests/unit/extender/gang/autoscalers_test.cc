#include "extender/gang/autoscalers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "extender/gang/reservation.h"
#include "tests/unit/extender/gang/by_hand.h"
#include "tests/unit/extender/gang/made_node.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;
using nlohmann::json;
using ::testing::IsEmpty;

constexpr double kLate = 301;

// Tests what pods of exclusive gangs prefer when their gates are lifted without a plan. Node n0 has two GPUs
// of two slots each. Karpenter knows it as h0.
class AutoscalersTest : public ByHand {
 protected:
  AutoscalersTest() { PutHost("n0", "h0"); }

  void PutHost(const std::string& name, const std::string& host) {
    PutNode(&cache_, name);
    Node node = *cache_.FindNode(name);
    node.labels["kubernetes.io/hostname"] = host;
    cache_.Put(node);
  }
  void Add(const std::string& uid, const std::string& gang, int size) {
    Pod pod;
    pod.uid = uid;
    pod.name_space = "team";
    pod.name = "pod-" + uid;
    pod.created_s = now_s_;
    pod.gates = {base::kGangGate};
    pod.scheduler = base::kSchedulerName;
    pod.annotations = {{base::kGangAnnotation, gang},
                       {base::kGangSizeAnnotation, std::to_string(size)},
                       {base::kShareAnnotation, "exclusive"}};
    Container container;
    container.name = "main";
    container.slots = 1;
    pod.containers = {container};
    Put(pod);
  }
  // Adds a gang of one pod that runs on a GPU.
  void AddRunning(const std::string& uid, const std::string& gpu, const std::string& node = "n0") {
    Add(uid, uid, 1);
    Change(uid, [&](Pod& pod) {
      pod.gates.clear();
      pod.node = node;
      pod.annotations[base::kAssignmentAnnotation] = WriteAssignment({{"main", {gpu}}});
    });
  }
  void Lead(PodFits fits = nullptr) {
    gangs_ = std::make_unique<Gangs>(cache_, GangSettings{}, std::move(fits), "e");
    gangs_->Step(now_s_);
  }
  // Returns what pods prefer whose gates are lifted now, by UID. A pod without preferences of ours has "".
  std::map<std::string, std::string> Lifted() {
    std::map<std::string, std::string> lifted;
    now_s_ += kLate;
    for (const Action& action : Do(Kind::kRelease)) lifted[action.pod.uid] = action.preferences;
    return lifted;
  }
  static json Other(const std::vector<std::string>& hosts) {
    return {{"key", "kubernetes.io/hostname"}, {"operator", "NotIn"}, {"values", hosts}};
  }
  // Returns the preferences of a pod that had none.
  static std::string Avoids(const std::vector<std::string>& hosts) {
    return json::array({{{"weight", 1}, {"preference", {{"matchExpressions", {Other(hosts)}}}}}}).dump();
  }
};

TEST_F(AutoscalersTest, FreeSlotsOfGpusThatOthersHaveAreAvoided) {
  AddRunning("r0", "GPU-a");
  AddRunning("r1", "GPU-b");
  Lead();
  Add("u0", "g", 2);
  Add("u1", "g", 2);
  const auto lifted = Lifted();
  ASSERT_EQ(lifted.size(), 2u);
  EXPECT_EQ(lifted.at("u0"), Avoids({"h0"}));
  EXPECT_EQ(lifted.at("u1"), Avoids({"h0"}));
}

// So an autoscaler adds one node for the gang, and not two.
TEST_F(AutoscalersTest, AsManyPodsAsThereAreFreeGpusMayHaveThem) {
  PutHost("n1", "h1");
  AddRunning("r0", "GPU-a");
  AddRunning("r1", "GPU-b");
  AddRunning("r2", "GPU-a", "n1");
  Lead();
  Add("u0", "g", 2);
  Add("u1", "g", 2);
  const auto lifted = Lifted();
  ASSERT_EQ(lifted.size(), 2u);
  EXPECT_EQ(lifted.at("u0"), Avoids({"h0"})) << "GPU-b of n1 is free";
  EXPECT_EQ(lifted.at("u1"), Avoids({"h0", "h1"}));
}

// To an autoscaler two pods of two gangs fit the free GPU.
TEST_F(AutoscalersTest, WhereSeveralGangsWaitNoneCountsOnAFreeGpu) {
  AddRunning("r0", "GPU-a");
  Lead();
  for (const char* uid : {"u0", "u1"}) Add(uid, "g", 2);
  for (const char* uid : {"v0", "v1"}) Add(uid, "h", 2);
  const auto lifted = Lifted();
  ASSERT_EQ(lifted.size(), 4u);
  for (const auto& [uid, preferences] : lifted) EXPECT_EQ(preferences, Avoids({"h0"})) << uid;
}

TEST_F(AutoscalersTest, NodesThatAnAutoscalerSeesAreFullAreLeftOut) {
  PutHost("n1", "h1");
  for (const char* node : {"n0", "n1"}) {
    AddRunning(std::string("a-") + node, "GPU-a", node);
    AddRunning(std::string("b-") + node, "GPU-b", node);
  }
  Lead([](const Pod&, const std::string& node, const Resources&) -> placement::Fit {
    return {.pods = node == "n1" ? 4 : 0, .why = ""};
  });
  Add("u0", "g", 1);
  EXPECT_EQ(Lifted().at("u0"), Avoids({"h1"}));
}

TEST_F(AutoscalersTest, WithoutSuchNodesNothingIsSaid) {
  Lead();
  Add("u0", "g", 2);  // the other pod of its gang is missing
  EXPECT_EQ(Lifted().at("u0"), "");
}

TEST_F(AutoscalersTest, ANodeThatKarpenterHasNoNameForIsLeftOut) {
  PutNode(&cache_, "n0");
  AddRunning("r0", "GPU-a");
  AddRunning("r1", "GPU-b");
  Lead();
  Add("u0", "g", 1);
  EXPECT_EQ(Lifted().at("u0"), "");
}

// Karpenter is told by each term, because it heeds the heaviest alone, and drops one after the other.
TEST_F(AutoscalersTest, WhatAUserPrefersStaysAndIsHeededElsewhere) {
  AddRunning("r0", "GPU-a");
  AddRunning("r1", "GPU-b");
  Lead();
  Add("u0", "g", 1);
  const json zone = {{"key", "zone"}, {"operator", "In"}, {"values", {"a"}}};
  Change("u0", [&](Pod& pod) {
    pod.preferences = json::array({{{"weight", 100}, {"preference", {{"matchExpressions", {zone}}}}},
                                   {{"weight", 50}, {"preference", json::object()}}})
                          .dump();
  });
  const json terms = json::parse(Lifted().at("u0"));
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_EQ(terms[0], json({{"weight", 100}, {"preference", {{"matchExpressions", {zone, Other({"h0"})}}}}}));
  EXPECT_EQ(terms[1]["preference"]["matchExpressions"], json::array({Other({"h0"})}));
  EXPECT_EQ(terms[2], json::parse(Avoids({"h0"}))[0]);
}

// To an autoscaler a pod that comes later fits a free slot of the node that it made for the first.
TEST_F(AutoscalersTest, TheGatesOfAGangAreLiftedTogether) {
  AddRunning("r0", "GPU-a");
  AddRunning("r1", "GPU-b");
  Lead();
  Add("u0", "g", 2);
  now_s_ += kLate - 2;
  Add("u1", "g", 2);
  EXPECT_THAT(Do(Kind::kRelease), IsEmpty());
  now_s_ += 2;
  EXPECT_EQ(Do(Kind::kRelease).size(), 2u);
}

// A policy of the cluster may forbid what a pod prefers to be changed.
TEST_F(AutoscalersTest, WhereThatIsRefusedTheGateIsLiftedWithoutIt) {
  AddRunning("r0", "GPU-a");
  AddRunning("r1", "GPU-b");
  Lead();
  Add("u0", "g", 1);
  now_s_ += kLate;
  for (int i = 0; i < 3; ++i) {
    const std::vector<Action> release = Do(Kind::kRelease);
    ASSERT_EQ(release.size(), 1u) << i;
    EXPECT_EQ(release[0].preferences, Avoids({"h0"})) << i;
    gangs_->Written(release[0].id, {.outcome = Outcome::kRefused, .error = "spec.affinity: no"}, now_s_);
    now_s_ += 10;
  }
  const std::vector<Action> release = Do(Kind::kRelease);
  ASSERT_EQ(release.size(), 1u);
  EXPECT_THAT(release[0].preferences, IsEmpty());
}

TEST_F(AutoscalersTest, AGateThatAPlanLiftsLeavesThePreferences) {
  Lead();
  Add("u0", "g", 1);
  now_s_ += 1;
  for (const Action& action : Do(Kind::kReserve)) Accept(action);
  const std::vector<Action> release = Do(Kind::kRelease);
  ASSERT_EQ(release.size(), 1u);
  EXPECT_EQ(release[0].node, "n0");
  EXPECT_THAT(release[0].preferences, IsEmpty());
}

}  // namespace
}  // namespace crossover::extender
