#include "extender/placement/occupancy.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class OccupancyTest : public ::testing::Test {
 protected:
  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
};

TEST_F(OccupancyTest, GangsOnOneSetAreAGroup) {
  state_.placed = {OnAll(Job("a"), {state_.nodes[0]}), OnAll(Job("b"), {state_.nodes[0]})};
  const Occupancy occupancy(state_);
  ASSERT_EQ(occupancy.groups().size(), 1u);
  EXPECT_EQ(occupancy.groups()[0].gangs.size(), 2u);
  EXPECT_FALSE(occupancy.Closed(occupancy.groups()[0]));
  EXPECT_EQ(occupancy.free_gpus(), 4);
  EXPECT_TRUE(occupancy.Holds("b"));
  EXPECT_FALSE(occupancy.Holds("c"));
}

TEST_F(OccupancyTest, SetsThatOverlapAreShut) {
  state_.placed = {OnAll(Job("a"), {state_.nodes[0]}), On(Job("b", 1), {{"n0", {"n0-1"}}}),
                   OnAll(Job("c"), {state_.nodes[1]})};
  const Occupancy occupancy(state_);
  ASSERT_EQ(occupancy.groups().size(), 3u);
  EXPECT_TRUE(occupancy.Closed(occupancy.groups()[0]));
  EXPECT_TRUE(occupancy.Closed(occupancy.groups()[1]));
  EXPECT_FALSE(occupancy.Closed(occupancy.groups()[2]));
}

TEST_F(OccupancyTest, ASetThatIsNotAllThereIsShut) {
  state_.placed = {On(Job("a", 2), {{"n0", {"n0-0"}}, {"gone", {"gone-0"}}})};
  const Occupancy occupancy(state_);
  EXPECT_TRUE(occupancy.Closed(occupancy.groups()[0]));
  EXPECT_TRUE(occupancy.Busy({0, 0}));
}

TEST_F(OccupancyTest, GpusOfClosedNodesAndSickOnesAreNotFree) {
  state_.nodes[0].open = false;
  state_.nodes[1].gpus[2].healthy = false;
  EXPECT_EQ(Occupancy(state_).free_gpus(), 3);
}

TEST_F(OccupancyTest, ASiteIsAsGoodAsItsWorstGpu) {
  state_.nodes[1].gpus[0].slots = 1;
  state_.nodes[1].gpus[1].memory = kGib;
  state_.nodes[1].one_user = true;
  state_.placed = {OnAll(Job("a", 8), state_.nodes)};
  const Occupancy occupancy(state_);
  const GpuSetSpec& site = occupancy.groups()[0].site;
  EXPECT_EQ(site.slots, 1);
  EXPECT_EQ(site.memory, kGib);
  EXPECT_TRUE(site.one_user);
  EXPECT_TRUE(site.spans);
}

TEST_F(OccupancyTest, WhatIsPlannedCountsAtOnce) {
  Occupancy occupancy(state_);
  const Gang a = Job("a", 2), b = Job("b", 2);
  const int group = occupancy.Open(a, {{0, 1}, {0, 0}});
  occupancy.Join(group, b);
  EXPECT_EQ(occupancy.free_gpus(), 6);
  ASSERT_EQ(occupancy.planned(0).size(), 2u);
  EXPECT_EQ(occupancy.planned(0)[1].gang, &b);
  EXPECT_EQ(occupancy.planned(0)[1].pods, 2);
  EXPECT_TRUE(occupancy.planned(1).empty());
}

TEST_F(OccupancyTest, WhoIsRemovedLeavesItsGpus) {
  state_.placed = {OnAll(Job("a"), {state_.nodes[0]}), OnAll(Job("b"), {state_.nodes[0]}),
                   On(Job("c", 1), {{"n1", {"n1-0"}}})};
  Occupancy occupancy(state_);
  const Gang* const b = &state_.placed[1].gang;
  occupancy.Remove({&b, 1});
  EXPECT_FALSE(occupancy.Holds("b"));
  ASSERT_EQ(occupancy.groups().size(), 2u);
  EXPECT_EQ(occupancy.groups()[0].gangs.size(), 1u);
  EXPECT_EQ(occupancy.free_gpus(), 3) << "a is still there";
  ASSERT_EQ(occupancy.planned(0).size(), 1u);
  EXPECT_EQ(occupancy.planned(0)[0].gang, b);
  EXPECT_EQ(occupancy.planned(0)[0].pods, -4);
  const Gang* const a = &state_.placed[0].gang;
  occupancy.Remove({&a, 1});
  EXPECT_EQ(occupancy.groups().size(), 1u);
  EXPECT_EQ(occupancy.free_gpus(), 7);
}

// A set is shut because it overlaps another, or because another gang of it has lost a GPU. It opens once that
// gang has left.
TEST_F(OccupancyTest, AGroupOpensOnceWhatShutsItHasLeft) {
  state_.placed = {On(Job("a", 1), {{"n0", {"n0-0"}}}), On(Job("b", 2), {{"n0", {"n0-0"}}, {"n0", {"n0-1"}}}),
                   On(Job("c", 1), {{"n1", {"n1-0"}}}),
                   On(Job("d", 2), {{"n1", {"n1-0"}}, {"gone", {"gone-0"}}})};
  Occupancy occupancy(state_);
  for (const Group& group : occupancy.groups()) EXPECT_TRUE(group.shut);
  const std::vector<const Gang*> leaving{&state_.placed[1].gang, &state_.placed[3].gang};
  occupancy.Remove(leaving);
  ASSERT_EQ(occupancy.groups().size(), 2u);
  for (const Group& group : occupancy.groups()) EXPECT_FALSE(group.shut);
}

TEST_F(OccupancyTest, KeptGpusAreForNone) {
  state_.placed = {OnAll(Job("a"), {state_.nodes[0]})};
  Occupancy occupancy(state_);
  const std::vector<GpuRef> kept{{0, 0}, {1, 0}};
  occupancy.Keep(kept);
  EXPECT_TRUE(occupancy.Closed(occupancy.groups()[0]));
  EXPECT_EQ(occupancy.free_gpus(), 3);
}

}  // namespace
}  // namespace crossover::placement
