// Tests that the referee accepts a good decision. The other half is in interleavings_test.cc, where faults
// are planted.
#include "tests/unit/extender/placement/referee.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

TEST(RefereeTest, FindsNothingWhereTwoMeet) {
  State state{.nodes = Nodes(1, 4), .placed = {}, .observed = {}};
  const std::vector<Gang> waiting{Job("a"), Job("b")};
  Decision decision = Decide(state, waiting, 0, {});
  ASSERT_EQ(decision.plans.size(), 2u);
  EXPECT_EQ(FaultOf(state, waiting, decision, {}), "");
  decision.plans[1].seats[0].gpus[0] = "n0-9";
  EXPECT_NE(FaultOf(state, waiting, decision, {}), "");
}

}  // namespace
}  // namespace crossover::placement
