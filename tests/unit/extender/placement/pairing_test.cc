#include "extender/placement/pairing.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class PairingTest : public ::testing::Test {
 protected:
  static Gang Of(const std::string& id, double compute_ms, double exposed_ms) {
    Gang gang = Job(id);
    gang.profile.compute_s = compute_ms / 1000;
    gang.profile.exposed_s = exposed_ms / 1000;
    return gang;
  }
  std::map<const Gang*, Partner> Chosen(const std::vector<const Gang*>& waiting, bool pairs = true) {
    const History history({});
    const Occupancy occupancy(state_);
    const Fitness anywhere = FitsAnywhere;
    return ChoosePartners(occupancy, waiting, pairs, {history, settings_, anywhere});
  }
  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
  Settings settings_;
};

// A greedy choice would pair the two gangs that are exposed the most, and leave the busy ones to each
// other.
TEST_F(PairingTest, TheBestOfAllTogetherNotOfTheFirst) {
  const Gang busy = Of("busy", 40, 10), busier = Of("busier", 40, 10), idle = Of("idle", 10, 40),
             idler = Of("idler", 10, 40);
  auto chosen = Chosen({&busy, &busier, &idle, &idler});
  EXPECT_TRUE(chosen[&busy].gang == &idle || chosen[&busy].gang == &idler);
  EXPECT_EQ(chosen[chosen[&busy].gang].gang, &busy);
}

TEST_F(PairingTest, WhoWaitsWithWhoRuns) {
  state_.placed = {OnAll(Of("running", 40, 10), {state_.nodes[1]})};
  const Gang a = Of("a", 10, 40), b = Of("b", 30, 20);
  auto chosen = Chosen({&a, &b}, false);
  EXPECT_EQ(chosen[&a].group, 0);
  EXPECT_FALSE(chosen.contains(&b)) << "one slot is left";
}

// Three gangs together gain more than two, but two of the three gained something before. What the newcomer
// adds counts.
TEST_F(PairingTest, WhatAGroupGainsAlreadyIsNotTheNewcomers) {
  for (Node& node : state_.nodes) {
    for (Gpu& gpu : node.gpus) gpu.slots = 3;
  }
  state_.placed = {OnAll(Of("p", 18, 22), {state_.nodes[0]}), OnAll(Of("q", 18, 22), {state_.nodes[0]}),
                   OnAll(Of("r", 30, 10), {state_.nodes[1]})};
  const Gang a = Of("a", 18, 22);
  const History history({});
  const auto gain = [&](std::vector<const Gang*> gangs) {
    return Expect(gangs, false, history, settings_).gain;
  };
  const Gang *p = &state_.placed[0].gang, *q = &state_.placed[1].gang, *r = &state_.placed[2].gang;
  ASSERT_GT(gain({p, q, &a}), gain({r, &a}));
  ASSERT_LT(gain({p, q, &a}) - gain({p, q}), gain({r, &a}) - gain({r}));
  EXPECT_EQ(Chosen({&a}, false)[&a].group, 1);
}

// In both cases two jobs share that did not share before. What each pair adds counts.
TEST_F(PairingTest, TwoThatWaitAreWorthNoMoreThanOneThatWaitsAndOneThatRuns) {
  state_.placed = {OnAll(Of("running", 10, 40), {state_.nodes[1]})};
  const Gang a = Of("a", 10, 40), b = Of("b", 45, 5);
  const History history({});
  const auto gain = [&](std::vector<const Gang*> gangs) {
    return Expect(gangs, false, history, settings_).gain;
  };
  ASSERT_GT(gain({&state_.placed[0].gang, &a}), gain({&a, &b}));
  ASSERT_GT(gain({&a, &b}), 1);
  EXPECT_EQ(Chosen({&a, &b})[&a].group, 0);
}

TEST_F(PairingTest, NoneWhereARuleIsInTheWay) {
  Gang a = Of("a", 10, 40), b = Of("b", 10, 40);
  b.space = "others";
  EXPECT_TRUE(Chosen({&a, &b}).empty());
}

// Two gangs would gain as much, and the one on two nodes is chosen.
TEST_F(PairingTest, GangsThatSpanNodesArePreferred) {
  state_.placed = {
      OnAll(Of("near", 20, 20), {state_.nodes[0]}),
      On(Of("far", 20, 20), {{"n1", {"n1-0"}}, {"n1", {"n1-1"}}, {"n2", {"n2-0"}}, {"n2", {"n2-1"}}})};
  state_.nodes = Nodes(3, 4);
  const Gang a = Of("a", 20, 20);
  EXPECT_EQ(Chosen({&a}, false)[&a].group, 1);
  settings_.spanning_bonus = -0.5;
  EXPECT_EQ(Chosen({&a}, false)[&a].group, 0);
}

TEST_F(PairingTest, TheBestSiteOfTheCluster) {
  state_.nodes[0].one_user = true;
  state_.nodes[1].gpus[2].slots = 4;
  state_.nodes[1].gpus[1].memory = 100 * kGib;
  const GpuSetSpec site = BestGpuSet(state_, 4);
  EXPECT_EQ(site.slots, 4);
  EXPECT_EQ(site.memory, 100 * kGib);
  EXPECT_FALSE(site.one_user);
  EXPECT_FALSE(site.spans);
  EXPECT_TRUE(BestGpuSet(state_, 5).spans);
}

}  // namespace
}  // namespace crossover::placement
