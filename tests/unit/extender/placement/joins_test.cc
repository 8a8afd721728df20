#include "extender/placement/joins.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class JoinsTest : public ::testing::Test {
 protected:
  std::optional<Rule> WhyNot(const Gang& newcomer, const Fitness& fitness = FitsAnywhere) {
    const History history({});
    const Occupancy occupancy(state_);
    const auto broken = WhyNotJoin(occupancy, occupancy.groups()[0], newcomer, {history, settings_, fitness});
    return broken ? std::optional(broken->rule) : std::nullopt;
  }
  State state_{.nodes = Nodes(2, 3), .placed = {OnAll(Job("a", 6), Nodes(2, 3))}, .observed = {}};
  Settings settings_;
};

TEST_F(JoinsTest, WhereNothingIsInTheWay) { EXPECT_EQ(WhyNot(Job("b", 6)), std::nullopt); }

TEST_F(JoinsTest, NotWhereAPodWouldBeOnTwoNodes) {
  Gang gang = Job("b", 3);
  gang.gpus_per_pod = 2;
  EXPECT_EQ(WhyNot(gang), Rule::kShape);
  gang.pods = 2;
  gang.gpus_per_pod = 3;
  EXPECT_EQ(WhyNot(gang), std::nullopt);
}

TEST_F(JoinsTest, NotOnGpusThatTakeNone) {
  state_.nodes[1].open = false;
  EXPECT_EQ(WhyNot(Job("b", 6)), Rule::kClosed);
}

TEST_F(JoinsTest, NotWhereANodeLacksSomethingElse) {
  const Fitness two = [](const Gang&, int, std::span<const Planned>) { return Fit{.pods = 2, .why = {}}; };
  EXPECT_EQ(WhyNot(Job("b", 6), two), Rule::kNodes);
  const Fitness three = [](const Gang&, int, std::span<const Planned>) { return Fit{.pods = 3, .why = {}}; };
  EXPECT_EQ(WhyNot(Job("b", 6), three), std::nullopt);
}

TEST_F(JoinsTest, ARuleAboutTheJobs) {
  Gang gang = Job("b", 6);
  gang.exclusive = true;
  EXPECT_EQ(WhyNot(gang), Rule::kExclusive);
}

}  // namespace
}  // namespace crossover::placement
