#include "extender/cluster/fit.h"

#include <gtest/gtest.h>

#include "extender/cluster/resources.h"
#include "extender/cluster/taints.h"

namespace crossover::extender {
namespace {

constexpr std::int64_t kGibi = 1 << 30;

class FitTest : public ::testing::Test {
 protected:
  FitTest() {
    node_.name = "n";
    node_.ready = true;
    node_.allocatable = {
        .milli_cpu = 16'000, .memory_bytes = 64 * kGibi, .others = {{"pods", 10}, {"slot", 8}}};
    pod_.uid = "new";
    pod_.requests = {.milli_cpu = 2'000, .memory_bytes = 4 * kGibi, .others = {{"slot", 1}}};
  }

  placement::Fit Fit() {
    cache_.Put(node_);
    return FitOn(cache_, "n", pod_, planned_);
  }
  static std::string WordsOf(const placement::Fit& fit) {
    return fit.figures.empty() ? fit.why : fit.why + ": " + fit.figures;
  }
  // Expects that the node has room for the pod, and none after `change`. Returns the reason.
  template <class Change>
  std::string Why(Change change) {
    EXPECT_GT(Fit().pods, 0) << Fit().why;
    change();
    const placement::Fit fit = Fit();
    EXPECT_EQ(fit.pods, 0);
    return WordsOf(fit);
  }

  ClusterCache cache_;
  Node node_;
  Pod pod_;
  Resources planned_;
};

TEST_F(FitTest, AsManyAsTheScarcestResourceLeaves) {
  EXPECT_EQ(Fit().pods, 8);
  pod_.requests.milli_cpu = 3'000;
  EXPECT_EQ(Fit().pods, 5);
  pod_.requests.memory_bytes = 20 * kGibi;
  EXPECT_EQ(Fit().pods, 3);
  pod_.requests = {};
  EXPECT_EQ(Fit().pods, 10) << "places for pods are all it asks for";
}

TEST_F(FitTest, WhatAPodNeedsAtShmIsThere) {
  GpuNode gpus;
  gpus.name = "n";
  for (const char* sharing : {"mps", "exclusive", "timeslice"}) {
    gpus.sharing = sharing;
    cache_.Put(gpus);
    const bool mps = gpus.sharing == "mps";
    pod_.shm = Shm::kUsual;
    EXPECT_GT(Fit().pods, 0);
    pod_.shm = Shm::kOwn;
    EXPECT_EQ(Fit().pods > 0, !mps) << sharing;
    EXPECT_EQ(Fit().why, mps ? "the pod's volume at /dev/shm would hide the files of MPS there: set "
                               "extender.config.webhook.shm=node, and make the pod again"
                             : "");
    pod_.shm = Shm::kMoved;
    EXPECT_EQ(Fit().pods > 0, mps) << sharing;
    EXPECT_EQ(Fit().never(), !mps) << "nothing may be kept for it there: it would be for ever";
    pod_.shm = Shm::kOwn;
    EXPECT_EQ(Fit().never(), mps);
  }
}

TEST_F(FitTest, AsManyAsAnEmptyNodeHasRoomFor) {
  pod_.requests.milli_cpu = 6'000;
  planned_.milli_cpu = 8'000;
  EXPECT_EQ(Fit().pods, 1);
  EXPECT_EQ(Fit().ever, 2);
  pod_.requests = {};
  EXPECT_EQ(Fit().ever, 10) << "places for pods";
}

TEST_F(FitTest, WhatOursAndOthersAndThePlannedHaveIsGone) {
  Pod ours = pod_;
  ours.uid = "ours";
  ours.node = "n";
  cache_.Put(ours);
  EXPECT_EQ(Fit().pods, 7);
  GpuNode gpus;
  gpus.name = "n";
  gpus.requested = {.milli_cpu = 4'000, .memory_bytes = 0, .others = {{"pods", 3}}};
  cache_.Put(gpus);
  EXPECT_EQ(Fit().pods, 5);
  AddPod(pod_, &planned_);
  AddPod(pod_, &planned_);
  EXPECT_EQ(Fit().pods, 3);
  planned_.others["pods"] = 5;
  EXPECT_EQ(Fit().pods, 1);
}

TEST_F(FitTest, SaysWhatIsTaken) {
  EXPECT_EQ(Why([this] {
              planned_.milli_cpu = 12'000;
              pod_.requests.milli_cpu = 8'000;
            }),
            "the node's CPU is taken: 12 of 16, and the pod wants 8");
  EXPECT_FALSE(Fit().never());
}

TEST_F(FitTest, SaysWhatItNeverHas) {
  EXPECT_EQ(Why([this] { pod_.requests.memory_bytes = 65 * kGibi + kGibi / 2; }),
            "the node's memory is too little: 64 GiB, and the pod wants 65.5 GiB");
  EXPECT_TRUE(Fit().never());
  pod_.requests.memory_bytes = 0;
  pod_.requests.others["x.y/z"] = 1;
  EXPECT_EQ(Fit().why, "the node has no x.y/z, and the pod wants 1");
  EXPECT_TRUE(Fit().never());
}

TEST_F(FitTest, WhatCanNeverBeComesFirst) {
  planned_.milli_cpu = 16'000;
  pod_.requests.memory_bytes = 100 * kGibi;
  EXPECT_TRUE(Fit().never());
  EXPECT_EQ(WordsOf(Fit()), "the node's memory is too little: 64 GiB, and the pod wants 100 GiB");
}

TEST_F(FitTest, ANodeTakesSoManyPods) {
  EXPECT_EQ(Why([this] { planned_.others["pods"] = 10; }), "the node takes no more pods: 10 of 10");
  EXPECT_FALSE(Fit().never());
  node_.allocatable.others.erase("pods");
  EXPECT_TRUE(Fit().never());
}

TEST_F(FitTest, MoreThanThereIsIsNoRoomEither) {
  planned_ = {.milli_cpu = INT64_MAX,
              .memory_bytes = INT64_MAX,
              .others = {{"pods", INT64_MAX}, {"slot", INT64_MAX}}};
  EXPECT_EQ(Fit().pods, 0);
  planned_ += planned_;
  EXPECT_EQ(Fit().pods, 0);
}

// A scheduler does the same: a resource that is overdrawn does not matter to a pod that asks for none of
// it.
TEST_F(FitTest, WhoWantsNoneMayComeAllTheSame) {
  planned_.milli_cpu = 20'000;
  EXPECT_EQ(Fit().pods, 0);
  pod_.requests.milli_cpu = 0;
  EXPECT_GT(Fit().pods, 0);
}

TEST_F(FitTest, NodesThatAreNotThere) {
  EXPECT_EQ(FitOn(cache_, "other", pod_, {}).why, "the node does not exist");
}

TEST_F(FitTest, ReadinessAndCordon) {
  EXPECT_EQ(Why([this] { node_.ready = false; }), "the node is not ready");
  EXPECT_TRUE(Fit().never());
  node_.ready = true;
  EXPECT_EQ(Why([this] { node_.cordoned = true; }), "the node is cordoned");
  pod_.tolerations.push_back(
      {.key = "node.kubernetes.io/unschedulable", .effect = "", .value = "", .exists = true});
  EXPECT_GT(Fit().pods, 0);
}

TEST_F(FitTest, Taints) {
  EXPECT_EQ(Why([this] {
              node_.taints = {{"soft", "", "PreferNoSchedule"}, {"k", "v", "NoSchedule"}};
            }),
            "the pod does not tolerate the node's taint k=v:NoSchedule");
  pod_.tolerations = {{.key = "k", .effect = "NoSchedule", .value = "w", .exists = false}};
  EXPECT_EQ(Fit().pods, 0);
  pod_.tolerations[0].value = "v";
  EXPECT_GT(Fit().pods, 0);
  node_.taints.push_back({"e", "", "NoExecute"});
  EXPECT_EQ(Fit().why, "the pod does not tolerate the node's taint e:NoExecute");
}

TEST(TolerationTest, AsKubernetesHasIt) {
  const Taint taint{.key = "k", .value = "v", .effect = "NoSchedule"};
  EXPECT_TRUE(Tolerates({"", "", "", true}, taint));
  EXPECT_TRUE(Tolerates({"k", "", "", true}, taint));
  EXPECT_TRUE(Tolerates({"k", "NoSchedule", "v"}, taint));
  EXPECT_FALSE(Tolerates({"k", "", ""}, taint));
  EXPECT_FALSE(Tolerates({"l", "", "", true}, taint));
  EXPECT_FALSE(Tolerates({"k", "NoExecute", "", true}, taint));
}

TEST_F(FitTest, WhereItsLabelsLetIt) {
  node_.labels["zone"] = "a";
  EXPECT_EQ(Why([this] { pod_.selection.selector["zone"] = "b"; }),
            "the node does not have the label zone=b of the pod's nodeSelector");
  EXPECT_TRUE(Fit().never());
  pod_.selection = {
      .selector = {},
      .affinity = {{{.key = "metadata.name", .op = "NotIn", .values = {node_.name}, .of_field = true}}}};
  EXPECT_EQ(Fit().pods, 0) << "it has the node's own name";
}

}  // namespace
}  // namespace crossover::extender
