#include "extender/placement/sets.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class SetsTest : public ::testing::Test {
 protected:
  std::string Found(const Gang& gang, const Fitness& fitness = FitsAnywhere) {
    return Names(FindFree(Occupancy(state_), {.gangs = {&gang}, .slots = 1, .memory = 0, .many_users = false},
                          fitness));
  }
  static std::string Names(const std::vector<GpuRef>& gpus) {
    std::string names;
    for (const GpuRef ref : gpus) names += std::to_string(ref.node) + "." + std::to_string(ref.gpu) + " ";
    return names;
  }
  static Gang Pods(int pods, int gpus_per_pod) {
    Gang gang = Job("g", pods);
    gang.gpus_per_pod = gpus_per_pod;
    return gang;
  }
  State state_{.nodes = Nodes(3, 4), .placed = {}, .observed = {}};
};

TEST_F(SetsTest, TheNodeThatIsLeftWithTheLeast) {
  state_.placed = {On(Job("a", 2), {{"n1", {"n1-0", "n1-1"}}})};
  EXPECT_EQ(Found(Job("g", 2)), "1.2 1.3 ");
  EXPECT_EQ(Found(Job("g", 3)), "0.0 0.1 0.2 ");
}

TEST_F(SetsTest, AsFewNodesAsCanBe) {
  state_.placed = {On(Job("a", 3), {{"n0", {"n0-0", "n0-1", "n0-2"}}})};
  EXPECT_EQ(Found(Job("g", 8)), "1.0 1.1 1.2 1.3 2.0 2.1 2.2 2.3 ");
  EXPECT_EQ(Found(Job("g", 5)), "0.3 1.0 1.1 1.2 1.3 ") << "the end where it fits best";
  EXPECT_EQ(Found(Job("g", 10)), "");
}

TEST_F(SetsTest, APodIsOnOneNode) {
  state_.placed = {On(Job("a", 3), {{"n0", {"n0-0"}}, {"n1", {"n1-0"}}, {"n2", {"n2-0"}}})};
  EXPECT_EQ(Found(Pods(4, 2)), "");
  EXPECT_EQ(Found(Pods(3, 2)), "0.1 0.2 1.1 1.2 2.1 2.2 ");
  EXPECT_EQ(Found(Pods(1, 4)), "");
}

TEST_F(SetsTest, WithinTheNarrowestDomain) {
  state_.nodes[0].domains = {"east", "rack1"};
  state_.nodes[1].domains = {"east", "rack2"};
  state_.nodes[2].domains = {"east", "rack2"};
  EXPECT_EQ(Found(Job("g", 8)), "1.0 1.1 1.2 1.3 2.0 2.1 2.2 2.3 ");
  state_.nodes[1].domains = {"west", "rack2"};
  state_.nodes[2].domains = {"west", "rack3"};
  EXPECT_EQ(Found(Job("g", 8)), "1.0 1.1 1.2 1.3 2.0 2.1 2.2 2.3 ") << "one zone, two racks";
  EXPECT_EQ(Found(Job("g", 12)).size(), 48u) << "the whole cluster";
}

TEST_F(SetsTest, WhatElseANodeMustHave) {
  const Fitness little = [](const Gang&, int node, std::span<const Planned>) {
    return Fit{.pods = node == 0 ? 1 : 3, .ever = node == 1 ? 0 : kMostPods, .why = "too little CPU"};
  };
  EXPECT_EQ(Found(Job("g", 4), little), "0.0 2.0 2.1 2.2 ");
  EXPECT_EQ(Found(Job("g", 5), little), "");
}

// A cluster has thousands of nodes, and what else they must have is looked up in the model of the cluster.
TEST_F(SetsTest, NothingIsAskedOfNodesThatHaveNoGpusToGive) {
  state_.placed = {OnAll(Job("a", 4), {state_.nodes[1]})};
  std::string asked;
  const Fitness asks = [&asked](const Gang&, int node, std::span<const Planned>) {
    asked += std::to_string(node) + " ";
    return Fit{.pods = 4, .why = ""};
  };
  EXPECT_EQ(Found(Job("g", 4), asks), "0.0 0.1 0.2 0.3 ");
  EXPECT_EQ(asked, "0 2 ");
}

TEST_F(SetsTest, ForSeveralGangsTheSetSuitsAll) {
  const Gang a = Pods(3, 2), b = Pods(2, 3);
  EXPECT_EQ(UnitOf(std::vector<const Gang*>{&a, &b}), 6);
  EXPECT_TRUE(FindFree(Occupancy(state_), {.gangs = {&a, &b}, .slots = 1, .memory = 0, .many_users = false},
                       FitsAnywhere)
                  .empty());
  state_.nodes = Nodes(1, 6);
  EXPECT_EQ(FindFree(Occupancy(state_), {.gangs = {&a, &b}, .slots = 1, .memory = 0, .many_users = false},
                     FitsAnywhere)
                .size(),
            6u);
}

TEST_F(SetsTest, OnlyGpusThatHaveWhatIsWanted) {
  state_.nodes[0].gpus[0].slots = 1;
  state_.nodes[1].one_user = true;
  state_.nodes[2].gpus[3].memory = kGib;
  const Gang g = Job("g", 1), h = Job("h", 1);
  const auto all = [&](Wanted wanted) {
    int count = 0;
    Occupancy occupancy(state_);
    for (auto gpus = FindFree(occupancy, wanted, FitsAnywhere); !gpus.empty(); ++count) {
      occupancy.Open(g, gpus);
      gpus = FindFree(occupancy, wanted, FitsAnywhere);
    }
    return count;
  };
  EXPECT_EQ(all({.gangs = {&g}, .slots = 1, .memory = 0, .many_users = false}), 12);
  EXPECT_EQ(all({.gangs = {&g}, .slots = 2, .memory = 0, .many_users = false}), 11);
  EXPECT_EQ(all({.gangs = {&g}, .slots = 1, .memory = 2 * kGib, .many_users = false}), 11);
  EXPECT_EQ(all({.gangs = {&g}, .slots = 1, .memory = 0, .many_users = true}), 8);
  state_.nodes[2].gpus[3].memory = 0;  // not known
  EXPECT_EQ(all({.gangs = {&g}, .slots = 1, .memory = 2 * kGib, .many_users = false}), 12);
  EXPECT_EQ(all({.gangs = {&g, &h}, .slots = 2, .memory = 2 * kGib, .many_users = false}), 10);
}

TEST_F(SetsTest, EverIsBoundedByWhatAnEmptyNodeTakes) {
  const Fitness one_each = [](const Gang&, int, std::span<const Planned>) {
    return Fit{.pods = 0, .ever = 1, .why = "it is taken"};
  };
  const auto ever = [&](const Gang& gang) {
    return Names(FindEver(Occupancy(state_), {.gangs = {&gang}, .slots = 1, .memory = 0, .many_users = false},
                          one_each));
  };
  EXPECT_EQ(ever(Job("g", 3)), "0.0 1.0 2.0 ");
  EXPECT_EQ(ever(Job("g", 4)), "") << "it can never be there";
}

TEST_F(SetsTest, EverTakesTheFewestBusyGpus) {
  state_.placed = {OnAll(Job("a", 4), {state_.nodes[0]}), On(Job("b", 1), {{"n2", {"n2-3"}}}),
                   On(Job("c", 2), {{"n1", {"n1-0", "n1-1"}}})};
  const Gang g = Job("g", 4);
  EXPECT_EQ(Names(FindEver(Occupancy(state_), {.gangs = {&g}, .slots = 1, .memory = 0, .many_users = false},
                           FitsAnywhere)),
            "2.0 2.1 2.2 2.3 ");
  const Gang all = Job("g", 13);
  EXPECT_TRUE(FindEver(Occupancy(state_), {.gangs = {&all}, .slots = 1, .memory = 0, .many_users = false},
                       FitsAnywhere)
                  .empty());
}

TEST_F(SetsTest, EverTakesTheIdleGpusOfANodeFirst) {
  state_.nodes = Nodes(1, 4);
  state_.placed = {On(Job("a", 1), {{"n0", {"n0-0"}}}), On(Job("b", 1), {{"n0", {"n0-2"}}})};
  const auto found = [this](int gpus) {
    const Gang g = Job("g", gpus);
    return Names(FindEver(Occupancy(state_), {.gangs = {&g}, .slots = 1, .memory = 0, .many_users = false},
                          FitsAnywhere));
  };
  EXPECT_EQ(found(1), "0.1 ");
  EXPECT_EQ(found(2), "0.1 0.3 ");
  EXPECT_EQ(found(3), "0.0 0.1 0.3 ");
}

}  // namespace
}  // namespace crossover::placement
