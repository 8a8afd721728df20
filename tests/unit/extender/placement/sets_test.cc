#include "extender/placement/sets.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <random>
#include <set>

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

TEST_F(SetsTest, GpusOfOneModelIfThereAreAsManyIdleOnes) {
  const std::vector<std::string> models = {"A100", "H100", "H100"}, racks = {"rack0", "rack0", "rack1"};
  for (std::size_t node = 0; node < 3; ++node) {
    for (Gpu& gpu : state_.nodes[node].gpus) gpu.model = models[node];
    state_.nodes[node].domains = {racks[node]};
  }
  EXPECT_EQ(Found(Job("g", 8)), "1.0 1.1 1.2 1.3 2.0 2.1 2.2 2.3 ")
      << "in two racks, not with two models in one";
  EXPECT_EQ(Found(Job("g", 3)), "0.0 0.1 0.2 ") << "two racks have as many left of one model: the first";
  EXPECT_EQ(Found(Job("g", 9)).size(), 36u) << "no model has so many";
  state_.placed = {OnAll(Job("a", 4), {state_.nodes[2]})};
  const Gang gang = Job("g", 8);
  const Wanted wanted{.gangs = {&gang}, .slots = 1, .memory = 0, .many_users = false};
  EXPECT_EQ(Names(FindEver(Occupancy(state_), wanted, FitsAnywhere)), "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3 ")
      << "to wait for the job on the third node would cost more";
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

TEST_F(SetsTest, NoWiderThanTheLabelThatTheGangNames) {
  state_.levels = {"zone", "rack"};
  for (Node& node : state_.nodes) node.domains = {"east", "rack1"};
  state_.nodes[2].domains = {"east", "rack2"};
  Gang gang = Job("g", 9);
  EXPECT_FALSE(Found(gang).empty());
  gang.within = "zone";
  EXPECT_FALSE(Found(gang).empty());
  gang.within = "rack";
  EXPECT_EQ(Found(gang), "") << "rack1 has eight";
  gang.pods = 8;
  EXPECT_EQ(Found(gang), "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3 ");
  gang.within = "row";
  EXPECT_EQ(Found(gang), "") << "no such label is known";
  const OnNode on[] = {{0, 4}, {1, 4}}, over[] = {{1, 4}, {2, 4}};
  gang.within = "rack";
  EXPECT_TRUE(IsWithin(state_, gang, on));
  EXPECT_FALSE(IsWithin(state_, gang, over));
  state_.nodes[0].domains = state_.nodes[1].domains = {"east"};
  EXPECT_FALSE(IsWithin(state_, gang, on)) << "nodes without the label may be anywhere";
  // They lack the label of zones, and have that of racks.
  state_.nodes[0].domains = state_.nodes[1].domains = {"", "rack1"};
  EXPECT_TRUE(IsWithin(state_, gang, on));
  gang.within = "zone";
  EXPECT_FALSE(IsWithin(state_, gang, on));
  EXPECT_EQ(Found(gang), "");
}

TEST_F(SetsTest, FewRacksBeforeTheLeastLeft) {
  state_.nodes = Nodes(6, 2);
  const char* racks[] = {"a", "b", "b", "c", "c", "c"};
  for (std::size_t n = 0; n < 6; ++n) state_.nodes[n].domains = {"east", racks[n]};
  EXPECT_EQ(Found(Job("g", 8)), "0.0 0.1 3.0 3.1 4.0 4.1 5.0 5.1 ") << "two racks, not three";
  EXPECT_EQ(Found(Job("g", 10)), "1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 5.0 5.1 ");
}

// Both zones give two GPUs on each of four nodes, each in a row of its own. The second has fewer racks.
TEST_F(SetsTest, FewRacksAlsoWhereTheyHaveAsManyRows) {
  state_.nodes = Nodes(8, 2);
  const char* racks[] = {"a", "b", "c", "c", "d", "d", "e", "e"};
  for (std::size_t n = 0; n < 8; ++n)
    state_.nodes[n].domains = {n < 4 ? "east" : "west", racks[n], std::to_string(n)};
  EXPECT_EQ(Found(Job("g", 8)), "4.0 4.1 5.0 5.1 6.0 6.1 7.0 7.1 ");
}

// Draws small clusters with up to three levels of domains, and compares with all ways to give out the GPUs.
class SetsSearch : public ::testing::TestWithParam<int> {
 protected:
  int Random(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  void Draw() {
    state_.nodes.clear();
    const int nodes = 2 + Random(5);
    for (int n = 0; n < nodes; ++n) {
      Node node = Nodes(1, 1 + Random(3))[0];
      node.name = "n" + std::to_string(n);
      const int depth = Random(4);
      for (int level = 0; level < depth; ++level) node.domains.push_back(std::to_string(Random(2)));
      state_.nodes.push_back(node);
    }
  }
  // Returns the domain of a node at a level, with "" for each label that it lacks.
  std::vector<std::string> DomainAt(int node, std::size_t level) const {
    std::vector<std::string> domain = state_.nodes[static_cast<std::size_t>(node)].domains;
    domain.resize(level);
    return domain;
  }
  // Returns the number of nodes, and of domains at each level below `level`.
  std::vector<std::size_t> CostOf(const std::vector<int>& taken, std::size_t level) const {
    std::vector<std::set<std::vector<std::string>>> domains(4);
    std::size_t nodes = 0;
    for (std::size_t n = 0; n < taken.size(); ++n) {
      if (taken[n] == 0) continue;
      ++nodes;
      for (std::size_t below = 0; below < domains.size(); ++below)
        domains[below].insert(DomainAt(static_cast<int>(n), level + 1 + below));
    }
    std::vector<std::size_t> cost{nodes};
    for (const auto& names : domains) cost.push_back(names.size());
    return cost;
  }
  // Calls `see` with every way to take `count` GPUs of the nodes of `domain`.
  void EachWay(const std::vector<std::string>& domain, int count, std::vector<int> taken,
               const std::function<void(const std::vector<int>&)>& see) const {
    const std::size_t n = taken.size();
    if (n == state_.nodes.size()) {
      if (count == 0) see(taken);
      return;
    }
    const Node& node = state_.nodes[n];
    const bool inside = node.domains.size() >= domain.size() &&
                        std::equal(domain.begin(), domain.end(), node.domains.begin());
    const int most = inside ? std::min<int>(count, static_cast<int>(node.gpus.size())) : 0;
    for (int here = 0; here <= most; ++here) {
      std::vector<int> more = taken;
      more.push_back(here);
      EachWay(domain, count - here, more, see);
    }
  }
  // Returns the least cost in the narrowest domain that has room, and its level.
  std::optional<std::pair<std::size_t, std::vector<std::size_t>>> Least(int count) const {
    for (std::size_t level = 4; level-- > 0;) {
      std::optional<std::vector<std::size_t>> least;
      for (const Node& node : state_.nodes) {
        if (node.domains.size() < level) continue;
        const std::vector<std::string> domain(node.domains.begin(),
                                              node.domains.begin() + static_cast<std::ptrdiff_t>(level));
        EachWay(domain, count, {}, [&](const std::vector<int>& taken) {
          std::vector<std::size_t> cost = CostOf(taken, level);
          if (!least || cost < *least) least = std::move(cost);
        });
      }
      if (least) return std::pair(level, *least);
    }
    return std::nullopt;
  }
  State state_{};
  std::mt19937_64 random_;
};

TEST_P(SetsSearch, TheFewestNodesAndThenTheFewestDomains) {
  random_.seed(static_cast<std::uint64_t>(GetParam()));
  for (int round = 0; round < 20; ++round) {
    Draw();
    int all = 0;
    for (const Node& node : state_.nodes) all += static_cast<int>(node.gpus.size());
    const int count = 1 + Random(all);
    const Gang gang = Job("g", count);
    const std::vector<GpuRef> found = FindFree(
        Occupancy(state_), {.gangs = {&gang}, .slots = 1, .memory = 0, .many_users = false}, FitsAnywhere);
    ASSERT_EQ(static_cast<int>(found.size()), count);
    std::vector<int> taken(state_.nodes.size());
    for (const GpuRef ref : found) ++taken[static_cast<std::size_t>(ref.node)];
    const auto least = Least(count);
    ASSERT_TRUE(least);
    EXPECT_EQ(CostOf(taken, least->first), least->second) << "round " << round;
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, SetsSearch, ::testing::Range(0, 15));

}  // namespace
}  // namespace crossover::placement
