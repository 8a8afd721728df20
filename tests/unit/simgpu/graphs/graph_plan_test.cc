// Tests which nodes of a graph run one after the other, and which wait for each other.
#include <gtest/gtest.h>

#include "simgpu/graphs/plan.h"

namespace simgpu {
namespace {

using Waits = std::vector<std::size_t>;

TEST(GraphPlanTest, OneStreamIsOneBranch) {
  const GraphPlan plan = PlanGraph({{7, 2, {}}, {7, 2, {0}}, {7, 2, {1}}});
  EXPECT_EQ(plan.gpus, std::vector<int>{2});
  EXPECT_EQ(plan.steps, (std::vector<Step>{{0, {}, false}, {0, {}, false}, {0, {}, false}}));
}

// Two streams fork from the first node and join at the last.
TEST(GraphPlanTest, BranchesWaitWhereTheGraphSaysSo) {
  const GraphPlan plan = PlanGraph({{1, 0, {}}, {1, 0, {0}}, {2, 1, {0}}, {2, 1, {2}}, {1, 0, {1, 3}}});
  EXPECT_EQ(plan.gpus, (std::vector<int>{0, 1}));
  ASSERT_EQ(plan.steps.size(), 5u);
  EXPECT_EQ(plan.steps[0], (Step{0, {}, true}));
  EXPECT_EQ(plan.steps[1],
            (Step{0, {}, false}));  // known bad: a wait here would make the branches take turns
  EXPECT_EQ(plan.steps[2], (Step{1, Waits{0}, false}));
  EXPECT_EQ(plan.steps[3], (Step{1, {}, true}));
  EXPECT_EQ(plan.steps[4], (Step{0, Waits{3}, false}));
}

TEST(GraphPlanTest, OfOneBranchTheLastNodeIsEnough) {
  const GraphPlan plan = PlanGraph({{1, 0, {}}, {1, 0, {0}}, {3, 0, {}}, {2, 0, {0, 1, 2}}});
  EXPECT_EQ(plan.steps[3].waits, (Waits{1, 2}));
  EXPECT_FALSE(plan.steps[0].awaited);
  EXPECT_TRUE(plan.steps[1].awaited);
  EXPECT_TRUE(plan.steps[2].awaited);
}

TEST(GraphPlanTest, AnEmptyGraphHasNoBranch) { EXPECT_TRUE(PlanGraph({}).gpus.empty()); }

}  // namespace
}  // namespace simgpu
