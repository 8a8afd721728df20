#include "extender/placement/fill.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class FillTest : public ::testing::Test {
 protected:
  const History history_{{}};
  Settings settings_;
  const Fitness anywhere_ = FitsAnywhere;
  const Terms terms_{history_, settings_, anywhere_};
  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
};

TEST_F(FillTest, GivesFreeGpusUntilThereAreNone) {
  Filler filler(Occupancy(state_), terms_);
  const Gang a = Job("a"), b = Job("b"), c = Job("c");
  EXPECT_TRUE(filler.Open(a));
  EXPECT_TRUE(filler.Open(b));
  EXPECT_FALSE(filler.Open(c));
  EXPECT_TRUE(filler.Join(c, filler.last()));
  ASSERT_EQ(filler.steps().size(), 3u);
  EXPECT_EQ(filler.steps()[2].beside, std::vector<const Gang*>{&b});
  EXPECT_EQ(filler.steps()[2].gpus, filler.steps()[1].gpus);
}

TEST_F(FillTest, ASetForTwoHasRoomForBoth) {
  state_.nodes[0].one_user = true;
  for (Gpu& gpu : state_.nodes[0].gpus) gpu.memory = 100 * kGib;
  Filler filler(Occupancy(state_), terms_);
  Gang a = Job("a"), b = Job("b");
  b.uid = 7;
  EXPECT_TRUE(filler.Open(a, &b));
  EXPECT_EQ(filler.steps()[0].gpus.front().node, 1);
  EXPECT_TRUE(filler.Join(b, filler.last()));
  b.uid = a.uid;
  b.users = Users::kOwn;
  Filler own(Occupancy(state_), terms_);
  EXPECT_TRUE(own.Open(a, &b));
  EXPECT_EQ(own.steps()[0].gpus.front().node, 1) << "a user of its own is another user";
  a.memory_cap = b.memory_cap = 45 * kGib;
  EXPECT_FALSE(Filler(Occupancy(state_), terms_).Open(a, &b)) << "too much for one, two users for the other";
}

TEST_F(FillTest, WhatMustBeEmptyIsKeptWhole) {
  state_.nodes[0].one_user = true;
  Gang gang = Job("g", 2);
  EXPECT_EQ(Filler(Occupancy(state_), terms_).Keep(gang, 1).size(), 2u);
  gang.users = Users::kOwn;
  gang.pods = 1;
  gang.gpus_per_pod = 2;
  EXPECT_EQ(Filler(Occupancy(state_), terms_).Keep(gang, 1).size(), 4u) << "else others come there for ever";
  state_.nodes[0].one_user = false;
  EXPECT_EQ(Filler(Occupancy(state_), terms_).Keep(gang, 1).size(), 2u);
}

TEST_F(FillTest, JoinsWhereItAddsTheMost) {
  Gang busy = Job("busy"), idle = Job("idle"), a = Job("a");
  busy.profile.exposed_s = 0.001;
  state_.placed = {OnAll(busy, {state_.nodes[0]}), OnAll(idle, {state_.nodes[1]})};
  Filler filler(Occupancy(state_), terms_);
  EXPECT_TRUE(filler.JoinBest(a));
  EXPECT_EQ(filler.steps()[0].beside[0]->id, "idle");
}

TEST_F(FillTest, SeatsAreOnePerPod) {
  const std::vector<GpuRef> gpus{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}};
  const std::vector<Seat> seats = SeatsOn(state_, gpus, 2);
  ASSERT_EQ(seats.size(), 3u);
  EXPECT_EQ(seats[1].node, "n0");
  EXPECT_EQ(seats[1].gpus, (std::vector<std::string>{"n0-2", "n0-3"}));
  EXPECT_EQ(seats[2].node, "n1");
}

}  // namespace
}  // namespace crossover::placement
