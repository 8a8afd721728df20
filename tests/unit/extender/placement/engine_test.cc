#include "extender/placement/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST_F(EngineTest, WhoIsNotKnownRunsAloneFirst) {
  std::vector<Gang> waiting{Job("a", 8), Job("b", 8)};
  waiting[0].memory_cap = 0;
  waiting[0].profile.source = Source::kUnknown;
  const Decision decision = Decide(waiting);
  EXPECT_EQ(decision.plans.size(), 1u);
  EXPECT_NE(decision.refusals[0].text.find("is not known yet"), std::string::npos);
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

// Small gangs come for ever, faster than they end, and a large one needs all GPUs: with the bound it has them
// as soon as those have ended that ran when it was passed, without it never.
TEST_F(EngineTest, ALargeGangIsNotStarvedBySmallOnes) {
  const auto started_s = [&](double starvation_s) -> double {
    State state{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
    settings_.starvation_s = starvation_s;
    std::vector<Gang> waiting{Job("large", 8)};
    for (int minute = 0; minute < 200; ++minute) {
      const double now_s = 60.0 * minute;
      std::erase_if(state.placed, [&](const Placed& p) { return p.gang.arrived_s + 1200 <= now_s; });
      for (int i = 0; i < 2; ++i) {
        waiting.push_back(Job("s" + std::to_string(minute) + "." + std::to_string(i), 1));
        waiting.back().arrived_s = now_s;
        waiting.back().exclusive = true;
      }
      if (minute == 0) waiting.erase(waiting.begin());
      if (minute == 10) waiting.push_back(Job("large", 8)), waiting.back().arrived_s = now_s;
      const Decision decision = placement::Decide(state, waiting, now_s, settings_);
      if (PlanFor(decision, "large") != nullptr) return now_s - 600;
      for (const Plan& plan : decision.plans) {
        const auto gang = std::ranges::find(waiting, plan.gang, &Gang::id);
        state.placed.push_back({*gang, plan.seats});
        state.placed.back().gang.arrived_s = now_s;  // from when on it runs
        waiting.erase(gang);
      }
    }
    return -1;
  };
  EXPECT_LE(started_s(1800), 1800 + 1200 + 60);
  EXPECT_GE(started_s(1800), 1800);
  EXPECT_EQ(started_s(1e9), -1) << "nothing starves here: the test shows nothing";
}

TEST_F(EngineTest, GpusAreKeptForOneWhoStarves) {
  state_.placed = {On(Job("a", 1), {{"n0", {"n0-0"}}})};
  Gang large = Job("large", 8), small = Job("small", 1);
  small.arrived_s = 3000;
  small.exclusive = true;
  const Decision decision = Decide({large, small}, 3000);
  ASSERT_TRUE(decision.kept.has_value());
  EXPECT_EQ(decision.kept->gang, "large");
  EXPECT_EQ(RefusalOf(decision, "small")->reason, Reason::kKept);
}

}  // namespace
}  // namespace crossover::placement
