#include "extender/gang/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "extender/cluster/fit.h"
#include "extender/placement/engine.h"

namespace crossover::extender {
namespace {

using ::testing::HasSubstr;

// Has a node with two GPUs, on which MPS serves one user, and a store that asks the cache what fits.
class KeptForNoneTest : public ::testing::Test {
 protected:
  KeptForNoneTest() {
    Node node;
    node.name = "n0";
    node.ready = true;
    node.allocatable = {.milli_cpu = 8'000, .memory_bytes = 1 << 30, .others = {{"pods", 10}}};
    cache_.Put(node);
    GpuNode gpus;
    gpus.name = "n0";
    gpus.sharing = "mps";
    for (const char* uuid : {"GPU-a", "GPU-b"}) {
      GpuNode::Gpu gpu;
      gpu.uuid = uuid;
      gpu.slots = 2;
      gpu.healthy = true;
      gpus.gpus.push_back(gpu);
    }
    cache_.Put(gpus);
    store_.cache = &cache_;
    store_.fits = [this](const Pod& pod, const std::string& there, const Resources& planned) {
      return FitOn(cache_, there, pod, planned);
    };
    store_.settings.domains = {};
  }
  // Adds a pod that waits, and its gang of `pods` pods.
  placement::Gang Waiting(const std::string& id, int pods, double arrived_s, Shm shm = Shm::kUsual) {
    Pod pod;
    pod.uid = pod.name = id;
    pod.name_space = "team";
    pod.shm = shm;
    cache_.Put(pod);
    store_.gangs[id].members[id];
    placement::Gang gang;
    gang.id = gang.name = id;
    gang.space = "team";
    gang.pods = pods;
    gang.gpus_per_pod = 1;
    gang.arrived_s = arrived_s;
    return gang;
  }
  // Decides if every gang that finds nothing is one that has waited for too long.
  placement::Decision Decide(const std::vector<placement::Gang>& waiting) const {
    const placement::State state = SnapshotOf(store_);
    placement::Settings settings;
    settings.starvation_s = 0;
    return placement::Decide(state, waiting, 1e6, settings, FitnessOf(store_, state));
  }

  ClusterCache cache_;
  GangStore store_;
};

TEST_F(KeptForNoneTest, ANodeThatHidesThePodsVolume) {
  const placement::Gang older = Waiting("older", 1, 0, Shm::kOwn), neighbour = Waiting("neighbour", 2, 1);
  const placement::Decision decision = Decide({older, neighbour});
  ASSERT_EQ(decision.plans.size(), 1u);
  EXPECT_EQ(decision.plans[0].gang, "neighbour") << "it has both GPUs";
  ASSERT_EQ(decision.refusals.size(), 1u);
  EXPECT_THAT(decision.refusals[0].text, HasSubstr("the pod's volume at /dev/shm would hide"));
  EXPECT_FALSE(decision.kept);
}

TEST_F(KeptForNoneTest, ANodeWithFewerUsersThanTheGangHas) {
  placement::Gang older = Waiting("older", 2, 0), neighbour = Waiting("neighbour", 2, 1);
  older.users = placement::Users::kOwn;
  const placement::Decision decision = Decide({older, neighbour});
  ASSERT_EQ(decision.plans.size(), 1u);
  EXPECT_EQ(decision.plans[0].gang, "neighbour");
  EXPECT_FALSE(decision.kept);
}

TEST_F(KeptForNoneTest, TheControlKeeps) {
  const placement::Gang first = Waiting("first", 1, 0), older = Waiting("older", 2, 1);
  const placement::Gang neighbour = Waiting("neighbour", 1, 2);
  const placement::Decision decision = Decide({first, older, neighbour});
  ASSERT_EQ(decision.plans.size(), 1u);
  EXPECT_EQ(decision.plans[0].gang, "first");
  ASSERT_TRUE(decision.kept);
  EXPECT_EQ(decision.kept->gang, "older") << "it fits as soon as the first has ended";
}

// A gang takes all CPUs of the node. If it leaves, another one has them.
TEST_F(KeptForNoneTest, WhatLeavesGivesItsCpus) {
  const placement::Gang leaving = Waiting("leaving", 1, 0), newcomer = Waiting("newcomer", 1, 1);
  for (const char* uid : {"leaving", "newcomer"}) {
    Pod pod = *cache_.FindPod(uid);
    pod.requests.milli_cpu = 8'000;
    if (pod.uid == "leaving") pod.node = "n0";
    cache_.Put(pod);
  }
  const placement::State state = SnapshotOf(store_);
  const placement::Fitness fits = FitnessOf(store_, state);
  EXPECT_EQ(fits(newcomer, 0, {}).pods, 0);
  const std::array gone{placement::Planned{&leaving, -1}};
  EXPECT_EQ(fits(newcomer, 0, gone).pods, 1);
}

}  // namespace
}  // namespace crossover::extender
