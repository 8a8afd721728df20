#include "extender/placement/replace.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

// "a" has a pod on each GPU of n0 and n1; the pod of place 5 is gone.
class ReplaceTest : public ::testing::Test {
 protected:
  ReplaceTest() { state_.placed = {OnAll(Job("a", 8), {state_.nodes[0], state_.nodes[1]})}; }
  Replacement Lost(std::vector<int> vacant, const Fitness& fitness = FitsAnywhere) {
    return Replace(state_, "a", vacant, settings_, fitness);
  }
  static std::string Names(const Replacement& found) {
    std::string names;
    for (const Seat& seat : found.seats) {
      for (const std::string& uuid : seat.gpus) names += uuid + " ";
    }
    return found.refusal ? found.refusal->text : names;
  }
  void BesideIt() {
    Gang other = Job("b", 8);
    other.name = "neighbour";
    state_.placed.push_back(OnAll(other, {state_.nodes[0], state_.nodes[1]}));
  }
  State state_{.nodes = Nodes(3, 4), .placed = {}, .observed = {}};
  Settings settings_;
};

TEST_F(ReplaceTest, APodGetsItsSeatAgain) {
  EXPECT_EQ(Names(Lost({5})), "n1-1 ");
  EXPECT_EQ(Names(Lost({5, 0})), "n0-0 n1-1 ") << "in the order of the seats";
}

TEST_F(ReplaceTest, ASeatThatIsNoneAnyMoreIsReplacedByANearOne) {
  state_.placed[0].seats.resize(7);  // n1-3 is free: nearer than n2
  state_.placed[0].gang.pods = 7;
  state_.nodes[1].gpus[1].healthy = false;
  EXPECT_EQ(Names(Lost({5})), "n1-3 ");
  state_.nodes[1].open = false;
  EXPECT_EQ(Names(Lost({5})), "n2-0 ");
}

TEST_F(ReplaceTest, TheNearestIsTheOneWithTheMostLabelsInCommon) {
  state_.nodes = Nodes(4, 4);
  for (Node& node : state_.nodes) node.domains = {"zone", node.name == "n2" ? "far" : "near"};
  state_.nodes[1].gpus[1].healthy = false;
  EXPECT_EQ(Names(Lost({5})), "n3-0 ");
}

TEST_F(ReplaceTest, SeatsThatAreNotToldAreFoundToo) {
  state_.placed[0].seats.resize(6);
  EXPECT_EQ(Names(Lost({})), "n1-2 n1-3 ");
  EXPECT_EQ(Names(Lost({0})), "n0-0 n1-2 n1-3 ");
}

// Gangs that share have the same GPUs: there is one place for the pod, and no other.
TEST_F(ReplaceTest, BesideAnotherItIsThatSeatOrNone) {
  BesideIt();
  EXPECT_EQ(Names(Lost({5})), "n1-1 ");
  state_.placed[0].seats.erase(state_.placed[0].seats.begin() + 5);
  EXPECT_EQ(Names(Lost({})), "n1-1 ") << "the neighbour still has it";
  state_.nodes[1].gpus[1].healthy = false;
  EXPECT_TRUE(Lost({}).seats.empty());
}

TEST_F(ReplaceTest, AndTheReasonIsTold) {
  BesideIt();
  state_.nodes[1].gpus[1].healthy = false;
  EXPECT_EQ(Names(Lost({5})),
            "lacks 1 pod; GPU n1-1 is not healthy; beside neighbour it needs the very GPUs that it had");
  state_.placed[1].gang.space = "others";
  EXPECT_EQ(Names(Lost({5})),
            "lacks 1 pod; GPU n1-1 is not healthy; beside another job it needs the very GPUs that it had");
}

TEST_F(ReplaceTest, ANeighbourWhosePodIsGoneTooIsStillOne) {
  BesideIt();
  for (Placed& placed : state_.placed) placed.seats.erase(placed.seats.begin() + 5);
  EXPECT_TRUE(Lost({}).refusal.has_value()) << "nobody knows any more where the two had it";
}

TEST_F(ReplaceTest, TheNodeMustTakeThePod) {
  const Fitness full = [](const Gang&, int node, std::span<const Planned>) {
    return Fit{.pods = node == 1 ? 1 : 4, .never = false, .why = "too little CPU"};
  };
  EXPECT_EQ(Names(Lost({5}, full)), "n1-1 ");
  EXPECT_EQ(Names(Lost({5, 6}, full)), "n1-1 n2-0 ");
  BesideIt();
  EXPECT_EQ(Names(Lost({5, 6}, full)),
            "lacks 1 pod; node n1: too little CPU; beside neighbour it needs the very GPUs that it had");
}

TEST_F(ReplaceTest, WhatIsKeptForAnotherIsNotFree) {
  state_.nodes[1].gpus[1].healthy = false;
  state_.kept = Kept{"c", {{"n2", {"n2-0", "n2-1"}}}};
  EXPECT_EQ(Names(Lost({5})), "n2-2 ");
  state_.nodes.pop_back();
  EXPECT_EQ(Names(Lost({5})), "lacks 1 pod; GPU n1-1 is not healthy; no node has 1 free GPUs that fit");
}

TEST_F(ReplaceTest, ASeatThatWasGivenToAnotherIsNotTaken) {
  state_.placed[0].seats.erase(state_.placed[0].seats.begin() + 5);
  BesideIt();
  state_.placed.push_back(On(Job("c", 1), {{"n1", {"n1-1"}}}));
  EXPECT_TRUE(Lost({}).refusal.has_value());
}

TEST_F(ReplaceTest, APodOfSeveralGpusIsOnOneNode) {
  Gang gang = Job("a", 2);
  gang.gpus_per_pod = 2;
  state_.placed = {On(gang, {{"n0", {"n0-0", "n0-1"}}, {"n1", {"n1-0", "n1-1"}}}),
                   On(Job("b", 1), {{"n0", {"n0-2"}}}), On(Job("c", 1), {{"n2", {"n2-0"}}})};
  EXPECT_EQ(Names(Lost({1})), "n1-0 n1-1 ");
  state_.nodes[1].open = false;
  EXPECT_EQ(Names(Lost({1})), "n2-1 n2-2 ");
}

TEST_F(ReplaceTest, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(Names(Replace(state_, "nobody", {}, settings_)), "it has no GPUs: it waits like a new one");
  EXPECT_EQ(Names(Lost({8})), "seat 8 is not one of its 8");
  EXPECT_EQ(Names(Lost({5, 5})), "seat 5 is not one of its 8");
  EXPECT_EQ(Names(Lost({0, 1, 2, 3, 4, 5, 6, 7})), "none of its pods is left: it waits like a new one");
  EXPECT_EQ(Names(Lost({})), "") << "nobody is lost: nothing is done";
}

// A gang that lacks a seat: nobody joins it, neither by the GPUs that it has nor by those that it should
// have.
TEST_F(ReplaceTest, NobodyNewComesBesideAGangThatLacksASeat) {
  settings_.sharing = Sharing::kAlways;
  state_.nodes = Nodes(2, 4);
  for (const int gpus : {7, 8}) {
    EXPECT_EQ(Decide(state_, {Job("n", gpus)}, 0, settings_).plans.size(), gpus == 8 ? 1u : 0u);
  }
  state_.placed[0].seats.erase(state_.placed[0].seats.begin() + 5);
  for (const int gpus : {7, 8}) {
    EXPECT_TRUE(Decide(state_, {Job("n", gpus)}, 0, settings_).plans.empty()) << gpus;
  }
}

}  // namespace
}  // namespace crossover::placement
