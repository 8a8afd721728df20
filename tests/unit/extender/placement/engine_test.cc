#include "extender/placement/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class EngineTest : public ::testing::Test {
 protected:
  Decision Decide(const std::vector<Gang>& waiting, double now_s = 0) const {
    return placement::Decide(state_, waiting, now_s, settings_);
  }
  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
  Settings settings_;
};

TEST_F(EngineTest, WithRoomForAllEachHasGpusOfItsOwn) {
  const Decision decision = Decide({Job("a"), Job("b")});
  ASSERT_EQ(decision.plans.size(), 2u);
  EXPECT_TRUE(decision.plans[0].beside.empty());
  EXPECT_TRUE(decision.plans[1].beside.empty());
  EXPECT_NE(GpusOf(decision.plans[0]), GpusOf(decision.plans[1]));
}

TEST_F(EngineTest, OrTheyMeetAllTheSameWhereThatIsWanted) {
  settings_.sharing = Sharing::kAlways;
  const Decision decision = Decide({Job("a"), Job("b")});
  ASSERT_EQ(decision.plans.size(), 2u);
  EXPECT_EQ(GpusOf(decision.plans[0]), GpusOf(decision.plans[1]));
}

TEST_F(EngineTest, WithoutRoomTheyMeetPairwise) {
  const std::vector<Gang> waiting{Job("a", 8), Job("b", 8)};
  const Decision decision = Decide(waiting);
  ASSERT_EQ(decision.plans.size(), 2u);
  EXPECT_EQ(decision.plans[1].beside, std::vector<std::string>{decision.plans[0].gang});
  EXPECT_EQ(GpusOf(decision.plans[0]), GpusOf(decision.plans[1]));
  EXPECT_EQ(decision.plans[1].seats.size(), 8u);
  EXPECT_NEAR(decision.plans[1].prediction.gain, 1.9, 1e-9);
}

TEST_F(EngineTest, ANewcomerJoinsWhoRuns) {
  state_.placed = {OnAll(Job("a", 8), state_.nodes)};
  const Decision decision = Decide({Job("b", 8)});
  ASSERT_EQ(decision.plans.size(), 1u);
  EXPECT_EQ(decision.plans[0].beside, std::vector<std::string>{"a"});
}

TEST_F(EngineTest, GroupsGrowUpToTheSlots) {
  for (Node& node : state_.nodes) {
    for (Gpu& gpu : node.gpus) gpu.slots = 3;
  }
  std::vector<Gang> waiting;
  for (const char* id : {"a", "b", "c", "d"}) {
    waiting.push_back(Job(id, 8));
    waiting.back().profile.exposed_s = 0.040;
    waiting.back().memory_cap = 10 * kGib;
  }
  const Decision decision = Decide(waiting);
  EXPECT_EQ(decision.plans.size(), 3u);
  EXPECT_EQ(decision.refusals.size(), 1u);
  EXPECT_EQ(decision.plans.back().beside.size(), 2u);
}

// The matching puts one gang beside the gang that runs: that of namespace c, which adds most. Of the others,
// which come after it one by one, two find a slot. Each namespace gets one, though a2 came before b1.
TEST_F(EngineTest, TheLastSlotsGoToEachNamespaceInTurn) {
  for (Node& node : state_.nodes) {
    for (Gpu& gpu : node.gpus) gpu.slots = 4;
  }
  const auto of = [](const std::string& id, double compute_ms, double arrived_s) {
    Gang gang = Job(id, 8);
    gang.space = id.substr(0, 1);
    gang.consent = Consent::kCluster;
    gang.memory_cap = 10 * kGib;
    gang.profile.compute_s = compute_ms * 1e-3;
    gang.profile.exposed_s = (100 - compute_ms) * 1e-3;
    gang.arrived_s = arrived_s;
    return gang;
  };
  state_.placed = {OnAll(of("r1", 81, 0), state_.nodes)};
  const Decision decision = Decide({of("c1", 1, 0), of("a1", 20, 1), of("a2", 20, 2), of("b1", 20, 3)}, 10);
  ASSERT_EQ(decision.plans.size(), 3u);
  EXPECT_NE(PlanFor(decision, "c1"), nullptr);
  EXPECT_NE(PlanFor(decision, "a1"), nullptr);
  EXPECT_NE(PlanFor(decision, "b1"), nullptr);
  EXPECT_NE(RefusalOf(decision, "a2"), nullptr);
}

TEST_F(EngineTest, WhoIsNotKnownRunsAloneFirst) {
  std::vector<Gang> waiting{Job("a", 8), Job("b", 8)};
  waiting[0].memory_cap = 0;
  waiting[0].profile.source = Source::kUnknown;
  const Decision decision = Decide(waiting);
  EXPECT_EQ(decision.plans.size(), 1u);
  EXPECT_NE(decision.refusals[0].text.find("was not known"), std::string::npos);
}

TEST_F(EngineTest, NothingIsDoneTwice) {
  state_.placed = {OnAll(Job("a"), {state_.nodes[0]})};
  const Decision decision = Decide({Job("a"), Job("b"), Job("b")});
  EXPECT_EQ(decision.plans.size(), 1u);
  EXPECT_EQ(decision.refusals.size(), 2u);
}

TEST_F(EngineTest, TheSameQuestionHasTheSameAnswer) {
  std::vector<Gang> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(Job("g" + std::to_string(i), 1 + i % 4));
  const Decision once = Decide(waiting), again = Decide(waiting);
  ASSERT_EQ(once.plans.size(), again.plans.size());
  for (std::size_t i = 0; i < once.plans.size(); ++i) {
    EXPECT_EQ(once.plans[i].gang, again.plans[i].gang);
    EXPECT_EQ(GpusOf(once.plans[i]), GpusOf(again.plans[i]));
  }
}

// Small gangs keep coming, faster than they end, and a large gang needs all GPUs.
class StarvationTest : public EngineTest {
 protected:
  static constexpr double kRun_s = 1200;

  // Returns how long the large gang waits, in seconds, or -1 if it waits forever. Small gangs run for
  // `kRun_s`. `starts_known` says whether the engine knows when they started.
  double Waited(double starvation_s, double starvation_runs, bool starts_known) {
    State state{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
    settings_.starvation_s = starvation_s;
    settings_.starvation_runs = starvation_runs;
    std::vector<Gang> waiting;
    std::map<std::string, double> began_s;
    for (int minute = 0; minute < 400; ++minute) {
      const double now_s = 60.0 * minute;
      std::erase_if(state.placed, [&](const Placed& p) { return began_s[p.gang.id] + kRun_s <= now_s; });
      for (int i = 0; i < 2; ++i) {
        waiting.push_back(Job("s" + std::to_string(minute) + "." + std::to_string(i), 1));
        waiting.back().arrived_s = now_s;
        waiting.back().exclusive = true;
      }
      if (minute == 10) waiting.push_back(Job("large", 8)), waiting.back().arrived_s = now_s;
      const Decision decision = placement::Decide(state, waiting, now_s, settings_);
      if (PlanFor(decision, "large") != nullptr) return now_s - 600;
      state.kept = decision.kept;
      for (const Plan& plan : decision.plans) {
        const auto gang = std::ranges::find(waiting, plan.gang, &Gang::id);
        state.placed.push_back({*gang, plan.seats});
        if (starts_known) state.placed.back().started_s = now_s;
        began_s[gang->id] = now_s;
        waiting.erase(gang);
      }
    }
    return -1;
  }
};

// The large gang gets its GPUs as soon as all gangs have ended that ran when three times its patience was
// over.
TEST_F(StarvationTest, ALargeGangIsNotStarvedBySmallOnes) {
  const double waited_s = Waited(1800, 0, false);
  EXPECT_GE(waited_s, 1800);
  EXPECT_LE(waited_s, 3 * 1800 + kRun_s + 60);
}

TEST_F(StarvationTest, WithoutTheBoundItIs) {
  EXPECT_EQ(Waited(1e9, 0, false), -1) << "nothing starves here: the tests beside show nothing";
}

// The gangs that run have run for 600 s on average, and for 1,200 s at most. The large gang's patience is a
// multiple of a time between the two.
TEST_F(StarvationTest, PatienceGrowsWithRunsAndIsBoundedByThem) {
  const double waited_s = Waited(60, 2, true);
  EXPECT_GE(waited_s, 2 * 300);
  EXPECT_LE(waited_s, 3 * 2 * kRun_s + kRun_s + 60);
  EXPECT_LT(Waited(60, 0, true), waited_s) << "as patience of a minute has it";
}

TEST_F(EngineTest, GpusAreKeptForOneWhoStarves) {
  state_.placed = {On(Job("a", 1), {{"n0", {"n0-0"}}})};
  Gang large = Job("large", 8), small = Job("small", 1);
  small.arrived_s = 3000;
  small.exclusive = true;
  Decision decision = Decide({large, small}, 3000);
  ASSERT_TRUE(decision.kept.has_value());
  EXPECT_EQ(decision.kept->gang, "large");
  EXPECT_EQ(RefusalOf(decision, "small")->reason, Reason::kKept);
}

TEST_F(EngineTest, GpusAreKeptForTheOldestAlone) {
  for (const Node& node : state_.nodes) state_.placed.push_back(OnAll(Job("on " + node.name), {node}));
  for (Placed& placed : state_.placed) placed.gang.exclusive = true;
  std::vector<Gang> waiting{Job("second"), Job("oldest"), Job("third")};
  waiting[0].arrived_s = 1;
  waiting[2].arrived_s = 2;
  const Decision decision = Decide(waiting, 10'000);
  ASSERT_TRUE(decision.kept.has_value());
  EXPECT_EQ(decision.kept->gang, "oldest");
  ASSERT_EQ(decision.kept->gpus.size(), 1u);
  EXPECT_EQ(decision.kept->gpus[0].gpus.size(), 4u);
}

// Two waiting gangs would gain the most with each other, but no GPUs are free. Each has to join a running
// gang, and only one of the running gangs has enough memory for either.
TEST_F(EngineTest, WhoWaitsIsMatchedWithWhoWaitsOnlyWhereThereIsRoom) {
  const auto of = [](const std::string& id, double compute_ms, double exposed_ms) {
    Gang gang = Job(id);
    gang.profile.compute_s = compute_ms * 1e-3;
    gang.profile.exposed_s = exposed_ms * 1e-3;
    return gang;
  };
  for (Gpu& gpu : state_.nodes[1].gpus) gpu.memory = 45 * kGib;
  state_.placed = {OnAll(of("wide", 45, 5), {state_.nodes[0]}),
                   OnAll(of("narrow", 49, 1), {state_.nodes[1]})};
  std::vector<Gang> waiting{of("a", 25, 25), of("b", 25, 25)};
  waiting[1].memory_cap = 30 * kGib;
  const Decision decision = Decide(waiting);
  ASSERT_EQ(decision.plans.size(), 2u);
  EXPECT_EQ(PlanFor(decision, "a")->beside, std::vector<std::string>{"narrow"});
  EXPECT_EQ(PlanFor(decision, "b")->beside, std::vector<std::string>{"wide"});
}

// The longer a gang has waited, the more of the GPUs that are kept for it may be busy.
TEST_F(EngineTest, GpusAreKeptWhereThatCostsLittleBeforeWhereItCostsMuch) {
  for (int i = 0; i < 4; ++i) {
    const std::string gpu = "n0-" + std::to_string(i);
    state_.placed.push_back(On(Job("a" + std::to_string(i), 1), {{"n0", {gpu}}}));
    state_.placed.back().gang.exclusive = true;
  }
  const std::vector<Gang> waiting{Job("large", 8)};
  EXPECT_FALSE(Decide(waiting, 1790).kept.has_value());
  EXPECT_FALSE(Decide(waiting, 3590).kept.has_value()) << "half of them are busy";
  EXPECT_TRUE(Decide(waiting, 3600).kept.has_value());
}

// Other GPUs become free sooner. But the gang gets the GPUs that are kept for it in the end. It might never
// get any if the kept GPUs changed each time.
TEST_F(EngineTest, TheSameGpusAreKeptUntilTheyAreHad) {
  state_.nodes = Nodes(4, 4);
  for (const Node& node : state_.nodes) state_.placed.push_back(OnAll(Job("on " + node.name), {node}));
  for (Placed& placed : state_.placed) placed.gang.exclusive = true;
  Gang large = Job("large", 3);
  large.gpus_per_pod = 4;
  const auto kept = [&](double now_s) {
    std::string nodes;
    const Decision decision = Decide({large}, now_s);
    for (const Seat& seat : decision.kept ? decision.kept->gpus : std::vector<Seat>{})
      nodes += seat.node + " ";
    return nodes;
  };
  EXPECT_EQ(kept(10'000), "n0 n1 n2 ");
  state_.kept = Decide({large}, 10'000).kept;
  state_.placed.pop_back();
  EXPECT_EQ(kept(10'060), "n0 n1 n2 ");
  EXPECT_EQ(kept(60), "n0 n1 n2 ") << "whatever its patience is by now";
  state_.nodes[0].open = false;
  EXPECT_EQ(kept(10'060), "n1 n2 n3 ");
  state_.nodes[0].open = true;
  state_.kept->gang = "another";
  EXPECT_EQ(kept(10'060), "n0 n1 n3 ") << "else it would be those with the fewest busy";
}

// While GPUs are kept for one gang, other gangs that have waited as long still join the gangs that they
// gain the most with.
TEST_F(EngineTest, WhoStarvesBehindAnotherStillMeetsTheBest) {
  state_.nodes = Nodes(3, 4);
  state_.placed = {OnAll(Job("x", 8), {state_.nodes[0], state_.nodes[1]})};
  state_.placed[0].gang.exclusive = true;
  for (Gpu& gpu : state_.nodes[2].gpus) gpu.memory = 40 * kGib;
  std::vector<Gang> waiting{Job("large", 8)};
  waiting[0].memory_cap = 60 * kGib;
  for (const auto& [id, exposed_ms] : {std::pair{"busy1", 1}, {"busy2", 1}, {"idle1", 90}, {"idle2", 90}}) {
    waiting.push_back(Job(id));
    waiting.back().arrived_s = 1;
    waiting.back().memory_cap = 10 * kGib;
    waiting.back().profile = {
        .source = Source::kMeasured, .compute_s = 0.010, .exposed_s = exposed_ms * 1e-3};
  }
  const Decision decision = Decide(waiting, 10'000);
  ASSERT_TRUE(decision.kept.has_value());
  ASSERT_EQ(decision.plans.size(), 2u);
  EXPECT_EQ(decision.plans[0].gang.substr(0, 4) + decision.plans[1].gang.substr(0, 4), "busyidle");
}

TEST_F(EngineTest, TheHigherRankIsServedFirst) {
  std::vector<Gang> waiting{Job("low", 8), Job("high", 8), Job("middle", 8)};
  for (Gang& gang : waiting) gang.exclusive = true;
  waiting[0].priority = Priority::kHigh, waiting[0].rank = -1;
  waiting[1].priority = Priority::kLow, waiting[1].rank = 1000, waiting[1].arrived_s = 5000;
  const Decision decision = Decide(waiting, 5000);  // the others have waited for too long
  ASSERT_EQ(decision.plans.size(), 1u);
  EXPECT_EQ(decision.plans[0].gang, "high");
  ASSERT_EQ(decision.refusals.size(), 2u);
  EXPECT_EQ(decision.refusals[0].gang, "middle");
}

// GPUs are kept for a gang that has waited for long. A gang of higher rank takes them, one of its own rank
// does not.
TEST_F(EngineTest, KeptGpusAreKeptFromEqualsOnly) {
  Gang running = Job("running", 2);
  running.exclusive = true;
  state_.placed = {On(running, {{"n0", {"n0-0"}}, {"n0", {"n0-1"}}})};
  std::vector<Gang> waiting{Job("large", 8), Job("small", 2)};
  waiting[1].arrived_s = 5000;
  Decision decision = Decide(waiting, 5400);
  EXPECT_EQ(decision.kept->gang, "large");
  EXPECT_EQ(PlanFor(decision, "small"), nullptr);
  state_.kept = decision.kept;
  waiting[1].rank = 1;
  decision = Decide(waiting, 5400);
  EXPECT_EQ(decision.kept->gang, "large");
  EXPECT_NE(PlanFor(decision, "small"), nullptr);
}

// Three gangs wait. Two could have GPUs of their own. That is the two of the higher rank. The third
// one joins.
TEST_F(EngineTest, ALowerRankMakesNoneShare) {
  std::vector<Gang> waiting{Job("a"), Job("b"), Job("low")};
  waiting[2].rank = -1;
  const Decision decision = Decide(waiting);
  ASSERT_EQ(decision.plans.size(), 3u);
  EXPECT_NE(GpusOf(*PlanFor(decision, "a")), GpusOf(*PlanFor(decision, "b")));
  EXPECT_EQ(decision.plans[2].gang, "low");
  EXPECT_EQ(decision.plans[2].beside.size(), 1u);
}

}  // namespace
}  // namespace crossover::placement
