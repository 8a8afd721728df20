#include "extender/placement/preempt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tests/unit/extender/placement/by_pod.h"
#include "tests/unit/extender/placement/cluster.h"
#include "tests/unit/extender/placement/scene.h"
#include "tests/unit/sanitized.h"

namespace crossover::placement {
namespace {

using Ids = std::vector<std::string>;

class PreemptTest : public ::testing::Test {
 protected:
  PreemptTest() { newcomer_.rank = 10; }

  // Adds a gang that may be made to leave. It shares with no other.
  Placed& Add(const std::string& id, std::vector<Seat> seats, double started_s = 0) {
    Gang gang = Job(id, static_cast<int>(seats.size()));
    gang.exclusive = true;
    state_.placed.push_back({.gang = gang, .seats = std::move(seats), .started_s = started_s});
    state_.placed.back().leave = Leave::kMay;
    return state_.placed.back();
  }
  // Adds a gang of one pod for each GPU of the node.
  Placed& AddOnNode(const std::string& id, int node, double started_s = 0) {
    return Add(id, OnAll(Job(id), {state_.nodes[static_cast<std::size_t>(node)]}).seats, started_s);
  }
  Decision Decide() const { return placement::Decide(state_, {newcomer_}, 100, settings_); }
  // Returns the victims, or none.
  Ids Victims() const {
    const Decision decision = Decide();
    return decision.preemption ? decision.preemption->victims : Ids{};
  }
  std::string Text() const { return Decide().refusals.at(0).text; }

  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
  Gang newcomer_ = Job("new");
  Settings settings_;
};

TEST_F(PreemptTest, TheFewestLeaveThenTheCheapest) {
  for (int g = 0; g < 4; ++g) Add("small" + std::to_string(g), {{"n0", {"n0-" + std::to_string(g)}}}, 99);
  AddOnNode("large", 1, 0);
  EXPECT_EQ(Victims(), Ids{"large"}) << "it is dearer, but it is one";
  newcomer_.pods = 1;
  state_.placed[2].started_s = 99.5;
  EXPECT_EQ(Victims(), Ids{"small2"});
  EXPECT_EQ(Text(), "needs 1 GPU; waits for 1 job of lower priority to end, which makes room for this job");
  newcomer_.pods = 8;
  EXPECT_EQ(Victims(), (Ids{"large", "small0", "small1", "small2", "small3"}));
  EXPECT_EQ(Text(), "needs 8 GPUs; waits for 5 jobs of lower priority to end, which make room for this job");
}

TEST_F(PreemptTest, NoneLeavesForAnEqualOrAHigherOne) {
  AddOnNode("a", 0).gang.rank = 10;
  AddOnNode("b", 1).gang.rank = 11;
  EXPECT_EQ(Victims(), Ids{});
  EXPECT_EQ(Text().find("lower priority"), std::string::npos);
}

// One GPU more would do, but the only gang that could leave frees a GPU on which another one stays.
TEST_F(PreemptTest, NoneLeavesInVain) {
  newcomer_.pods = 8;
  AddOnNode("a", 0);
  AddOnNode("b", 1).leave = Leave::kNever;
  EXPECT_EQ(Victims(), Ids{});
  EXPECT_EQ(Decide().refusals.at(0).reason, Reason::kFull);
}

TEST_F(PreemptTest, WhatForbidsItIsSaid) {
  AddOnNode("a", 0).leave = Leave::kForbidden;
  AddOnNode("b", 1).leave = Leave::kSpared;
  EXPECT_EQ(Victims(), Ids{});
  EXPECT_NE(Text().find("1 job of lower priority stays: disruption budgets do not allow"), std::string::npos)
      << Text();
  EXPECT_NE(Text().find("1 job of lower priority stays: a job that made room"), std::string::npos);
  state_.placed[0].leave = state_.placed[1].leave = Leave::kMay;
  newcomer_.preempts = false;
  EXPECT_EQ(Victims(), Ids{});
  EXPECT_NE(Text().find("2 jobs of lower priority stay: the preemptionPolicy of this job is Never"),
            std::string::npos)
      << Text();
}

// All slots of the GPUs are taken by jobs that share. One leaves, and the newcomer meets the other one, which
// goes on. The other has a budget, so the GPUs could not be had alone.
TEST_F(PreemptTest, ANeighbourGoesOn) {
  for (const int node : {0, 1}) {
    AddOnNode("a" + std::to_string(node), node).gang.exclusive = false;
    AddOnNode("b" + std::to_string(node), node, 50).gang.exclusive = false;
  }
  state_.placed[1].leave = Leave::kForbidden;
  state_.placed[2].gang.rank = state_.placed[3].gang.rank = 10;
  const Decision decision = Decide();
  ASSERT_TRUE(decision.preemption.has_value());
  EXPECT_EQ(decision.preemption->victims, Ids{"a0"});
  EXPECT_EQ(decision.preemption->beside, Ids{"b0"});
  EXPECT_EQ(decision.preemption->seats, state_.placed[0].seats);
  newcomer_.exclusive = true;
  EXPECT_EQ(Victims(), Ids{}) << "it cannot have the GPUs for itself";
  state_.placed[1].leave = Leave::kMay;
  EXPECT_EQ(Victims(), (Ids{"a0", "b0"}));
}

// The place that is made is for the gang alone: neither equals that came later nor lower ones get it, and the
// free GPUs of it are not given away meanwhile.
TEST_F(PreemptTest, ThePlaceIsClaimedAtOnce) {
  newcomer_.pods = 5;
  AddOnNode("a", 0);
  Gang equal = Job("equal", 1), low = Job("low", 4);
  equal.rank = 10, equal.arrived_s = 50;
  equal.exclusive = low.exclusive = true;
  const Decision decision = placement::Decide(state_, {low, equal, newcomer_}, 100, settings_);
  ASSERT_TRUE(decision.preemption.has_value());
  EXPECT_EQ(decision.preemption->gang, "new");
  ASSERT_EQ(decision.plans.size(), 1u);
  EXPECT_EQ(decision.plans[0].gang, "equal") << "it fits as it is";
  EXPECT_EQ(RefusalOf(decision, "new")->reason, Reason::kMakesRoom);
  EXPECT_EQ(RefusalOf(decision, "low")->reason, Reason::kFull);
}

TEST_F(PreemptTest, OneAtATimeAndTheHighestFirst) {
  AddOnNode("a", 0), AddOnNode("b", 1);
  Gang high = Job("high");
  high.rank = 20, high.arrived_s = 50;
  high.exclusive = newcomer_.exclusive = true;
  const Decision decision = placement::Decide(state_, {newcomer_, high}, 100, settings_);
  ASSERT_TRUE(decision.preemption.has_value());
  EXPECT_EQ(decision.preemption->gang, "high");
  EXPECT_EQ(decision.preemption->victims.size(), 1u);
  EXPECT_EQ(RefusalOf(decision, "new")->reason, Reason::kFull);
}

// Half a gang lies on a node that is too small for the newcomer, but it leaves whole.
TEST_F(PreemptTest, WholeGangsLeave) {
  newcomer_.pods = 2;
  AddOnNode("b", 1).leave = Leave::kNever;
  Add("a", {{"n0", {"n0-0"}}, {"n0", {"n0-1"}}, {"n0", {"n0-2"}}, {"n0", {"n0-3"}}});
  EXPECT_EQ(Victims(), Ids{"a"});
  state_.placed[1].seats.pop_back();
  newcomer_.pods = 4;
  EXPECT_EQ(Victims(), Ids{"a"}) << "one of its pods has succeeded, and the others leave";
}

// Each node has CPUs for three pods, and two other pods are there. What leaves has to give CPUs, too.
TEST_F(PreemptTest, CpusCountAsWell) {
  newcomer_.pods = 2;
  AddOnNode("b", 1).leave = Leave::kNever;
  for (int g = 0; g < 2; ++g) Add("a" + std::to_string(g), {{"n0", {"n0-" + std::to_string(g)}}}, g);
  const auto fits = [](const Gang&, int, std::span<const Planned> planned) -> Fit {
    int pods = 1;
    for (const Planned& change : planned) pods -= change.pods;
    return {.pods = pods, .ever = 3, .why = "its CPU is taken"};
  };
  const Decision decision = placement::Decide(state_, {newcomer_}, 100, settings_, fits);
  ASSERT_TRUE(decision.preemption.has_value());
  EXPECT_EQ(decision.preemption->victims, Ids{"a1"}) << "two GPUs are free, but CPUs for one pod";
}

// The GPUs that the newcomer gets are those of one gang, or free, and CPUs for one pod more are with the
// gangs beside it.
TEST_F(PreemptTest, OthersOfTheNodeLeaveWhereThoseOnItsGpusHaveTooFewCpus) {
  state_.nodes.resize(1);
  newcomer_.pods = 2;
  const Fitness fits = [](const Gang&, int, std::span<const Planned> planned) -> Fit {
    int pods = 0;
    for (const Planned& change : planned) pods -= change.pods;
    return {.pods = pods, .ever = 3, .why = "its CPU is taken"};
  };
  for (const char* gpu : {"n0-0", "n0-2"}) {
    state_.placed.clear();
    Add("a", {{"n0", {gpu}}});
    Add("b", {{"n0", {"n0-3"}}});
    const History history({});
    const auto choice = ChooseVictims(Occupancy(state_), newcomer_, CandidatesFor(state_, newcomer_, 100),
                                      {history, settings_, fits}, {.candidates = 0});
    ASSERT_TRUE(choice.has_value()) << gpu;
    EXPECT_EQ(choice->victims.size(), 2u) << gpu;
  }
}

TEST_F(PreemptTest, GpusWithTooLittleMemoryAreNotCounted) {
  state_.nodes[0].gpus[0].memory = 40 * kGib;
  newcomer_.pods = 8;
  const Occupancy occupancy(state_);
  const History history({});
  const Fitness fits = FitsAnywhere;
  const auto pods = [&](Bytes cap) {
    newcomer_.memory_cap = cap;
    return Counting(occupancy, newcomer_, {}, {history, settings_, fits}).PodsAtMost({});
  };
  EXPECT_EQ(pods(39 * kGib), 8);
  EXPECT_EQ(pods(40 * kGib), 7) << "the context takes some, too";
  EXPECT_EQ(pods(80 * kGib), 0);
}

constexpr std::uint64_t kScenes = crossover::testing::kSanitized ? 400 : 4000;

TEST(PreemptionScenesTest, VictimsAreThoseOfAnExhaustiveSearch) {
  int fits = 0, possible = 0, forbidden = 0, impossible = 0, beside = 0;
  for (std::uint64_t seed = 0; seed < kScenes; ++seed) {
    const Scene scene = SceneOf(seed);
    const Answer answer = AnswerOf(scene);
    const Decision decision = scene.Decide();
    EXPECT_EQ(FaultOfAnswer(scene, answer, decision), "") << "seed " << seed;
    fits += answer.fits;
    possible += answer.possible;
    forbidden += answer.forbidden;
    impossible += !answer.fits && !answer.possible && !answer.forbidden;
    beside += decision.preemption && !decision.preemption->beside.empty();
  }
  std::printf("%d fit, %d make room (%d beside others), %d may not, %d cannot\n", fits, possible, beside,
              forbidden, impossible);
  EXPECT_GE(possible, static_cast<int>(kScenes / 2));
  EXPECT_GE(forbidden + impossible, static_cast<int>(kScenes / 4));
  EXPECT_GE(forbidden, 20);
  EXPECT_GE(beside, static_cast<int>(kScenes / 40)) << "hardly any met a neighbour of a victim";
}

// If victims are chosen pod by pod, gangs are halved, and others leave without need. Both are seen.
TEST(PreemptionScenesTest, PodByPodIsWrong) {
  int halves = 0, in_vain = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Scene scene = SceneOf(seed);
    const ByPod by_pod = MakeRoomByPod(scene);
    halves += by_pod.halves;
    in_vain += by_pod.in_vain;
  }
  EXPECT_GE(halves, 100);
  EXPECT_GE(in_vain, 40);
}

// Spoils who leaves. The judge has to see each of it.
TEST(PreemptionScenesTest, WhatIsSpoiltIsSeen) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Scene scene = SceneOf(seed);
    const Answer answer = AnswerOf(scene);
    const Decision decision = scene.Decide();
    if (!decision.preemption) continue;
    const auto spoilt = [&](const std::function<void(Decision&)>& spoil) {
      Decision other = decision;
      spoil(other);
      const std::string fault = FaultOfAnswer(scene, answer, other);
      EXPECT_NE(fault, "") << "seed " << seed;
      seen.insert(fault.substr(0, fault.find(':')));
    };
    spoilt([](Decision& d) { d.preemption.reset(); });
    spoilt([](Decision& d) { d.preemption->victims.pop_back(); });
    spoilt([](Decision& d) { d.preemption->seats.pop_back(); });
    for (const Placed& placed : scene.state.placed) {
      if (std::ranges::count(decision.preemption->victims, placed.gang.id) > 0) continue;
      spoilt([&](Decision& d) { d.preemption->victims.push_back(placed.gang.id); });
    }
  }
  for (const char* fault :
       {"no victims, though some could make room", "inversion of ranks", "a victim in vain",
        "a gang leaves that may not", "half a gang where room is made"}) {
    EXPECT_TRUE(seen.contains(fault)) << fault;
  }
}

// In large clusters victims are found by counting. Here that way is taken in small ones.
TEST(PreemptionScenesTest, ByCountingNoneIsInVainAndFewAreTooMany) {
  int possible = 0, best = 0, found = 0;
  for (std::uint64_t seed = 0; seed < kScenes; ++seed) {
    const Scene scene = SceneOf(seed);
    const Answer answer = AnswerOf(scene);
    if (answer.fits) continue;
    const History history({});
    const Fitness fits = scene.Fits();
    const std::vector<Candidate> candidates = CandidatesFor(scene.state, scene.gang, scene.now_s);
    const auto choice = ChooseVictims(Occupancy(scene.state), scene.gang, candidates,
                                      {history, scene.settings, fits}, {.candidates = 0});
    possible += answer.possible;
    if (!choice) continue;
    ++found;
    Preemption preemption{.gang = scene.gang.id, .victims = {}, .seats = {}, .beside = {}};
    for (const Gang* gang : choice->victims) preemption.victims.push_back(gang->id);
    preemption.seats = SeatsOn(scene.state, choice->place.gpus, scene.gang.gpus_per_pod);
    EXPECT_EQ(FaultOfPreemption(scene, preemption), "") << "seed " << seed;
    best += preemption.victims == answer.victims;
  }
  std::printf("%d possible, %d found, %d the best\n", possible, found, best);
  EXPECT_GE(found * 100, possible * 98);
  EXPECT_GE(best * 100, possible * 90);
}

// 1,000 gangs have GPUs. Each place that is made is proved, and each victim is needed.
TEST(PreemptionScenesTest, OfAThousandGangsNoneLeavesInVain) {
  for (const int gpus_per_pod : {1, 8}) {
    const Scene scene = LargeScene(7, 1000, 64, gpus_per_pod);
    const Decision decision = scene.Decide();
    ASSERT_TRUE(decision.preemption.has_value());
    EXPECT_EQ(FaultOfPreemption(scene, *decision.preemption), "");
    EXPECT_LE(decision.preemption->victims.size(), 20u);
  }
}

}  // namespace
}  // namespace crossover::placement
