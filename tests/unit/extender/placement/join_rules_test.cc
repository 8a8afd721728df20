#include "extender/placement/join_rules.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class JoinRulesTest : public ::testing::Test {
 protected:
  std::optional<Rule> WhyNot(const Gang& newcomer, const Fitness& fitness = FitsAnywhere) {
    const History history({});
    const Occupancy occupancy(state_);
    const auto violation =
        WhyNotJoin(occupancy, occupancy.groups()[0], newcomer, {history, settings_, fitness});
    return violation ? std::optional(violation->rule) : std::nullopt;
  }
  State state_{.nodes = Nodes(2, 3), .placed = {OnAll(Job("a", 6), Nodes(2, 3))}, .observed = {}};
  Settings settings_;
};

TEST_F(JoinRulesTest, WhereNothingIsInTheWay) { EXPECT_EQ(WhyNot(Job("b", 6)), std::nullopt); }

TEST_F(JoinRulesTest, NotWhereAPodWouldBeOnTwoNodes) {
  Gang gang = Job("b", 3);
  gang.gpus_per_pod = 2;
  EXPECT_EQ(WhyNot(gang), Rule::kShape);
  gang.pods = 2;
  gang.gpus_per_pod = 3;
  EXPECT_EQ(WhyNot(gang), std::nullopt);
}

TEST_F(JoinRulesTest, NotOnGpusThatTakeNone) {
  state_.nodes[1].open = false;
  EXPECT_EQ(WhyNot(Job("b", 6)), Rule::kClosed);
}

TEST_F(JoinRulesTest, NotWhereANodeLacksSomethingElse) {
  const Fitness two = [](const Gang&, int, std::span<const Planned>) { return Fit{.pods = 2, .why = {}}; };
  EXPECT_EQ(WhyNot(Job("b", 6), two), Rule::kNodes);
  const Fitness three = [](const Gang&, int, std::span<const Planned>) { return Fit{.pods = 3, .why = {}}; };
  EXPECT_EQ(WhyNot(Job("b", 6), three), std::nullopt);
}

TEST_F(JoinRulesTest, ARuleAboutTheJobs) {
  Gang gang = Job("b", 6);
  gang.exclusive = true;
  EXPECT_EQ(WhyNot(gang), Rule::kExclusive);
}

}  // namespace
}  // namespace crossover::placement
