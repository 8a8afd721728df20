#include "extender/placement/allocator.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class AllocatorTest : public ::testing::Test {
 protected:
  const History history_{{}};
  Settings settings_;
  const Fitness anywhere_ = FitsAnywhere;
  const Context context_{history_, settings_, anywhere_};
  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
};

TEST_F(AllocatorTest, GivesFreeGpusUntilThereAreNone) {
  Allocator allocator(Occupancy(state_), context_);
  const Gang a = Job("a"), b = Job("b"), c = Job("c");
  EXPECT_TRUE(allocator.Open(a));
  EXPECT_TRUE(allocator.Open(b));
  EXPECT_FALSE(allocator.Open(c));
  EXPECT_TRUE(allocator.Join(c, allocator.last()));
  ASSERT_EQ(allocator.steps().size(), 3u);
  EXPECT_EQ(allocator.steps()[2].beside, std::vector<const Gang*>{&b});
  EXPECT_EQ(allocator.steps()[2].gpus, allocator.steps()[1].gpus);
}

TEST_F(AllocatorTest, ASetForTwoHasRoomForBoth) {
  state_.nodes[0].one_user = true;
  for (Gpu& gpu : state_.nodes[0].gpus) gpu.memory = 100 * kGib;
  Allocator allocator(Occupancy(state_), context_);
  Gang a = Job("a"), b = Job("b");
  b.uid = 7;
  EXPECT_TRUE(allocator.Open(a, &b));
  EXPECT_EQ(allocator.steps()[0].gpus.front().node, 1);
  EXPECT_TRUE(allocator.Join(b, allocator.last()));
  b.uid = a.uid;
  b.users = Users::kOwn;
  Allocator own(Occupancy(state_), context_);
  EXPECT_TRUE(own.Open(a, &b));
  EXPECT_EQ(own.steps()[0].gpus.front().node, 1) << "a user of its own is another user";
  a.memory_cap = b.memory_cap = 45 * kGib;
  EXPECT_FALSE(Allocator(Occupancy(state_), context_).Open(a, &b))
      << "too much for one, two users for the other";
}

TEST_F(AllocatorTest, WhatMustBeEmptyIsKeptWhole) {
  state_.nodes[0].one_user = true;
  Gang gang = Job("g", 2);
  EXPECT_EQ(Allocator(Occupancy(state_), context_).Keep(gang, 1).size(), 2u);
  gang.users = Users::kOwn;
  gang.pods = 1;
  gang.gpus_per_pod = 2;
  EXPECT_EQ(Allocator(Occupancy(state_), context_).Keep(gang, 1).size(), 4u)
      << "else others come there for ever";
  state_.nodes[0].one_user = false;
  EXPECT_EQ(Allocator(Occupancy(state_), context_).Keep(gang, 1).size(), 2u);
}

TEST_F(AllocatorTest, JoinsWhereItAddsTheMost) {
  Gang busy = Job("busy"), idle = Job("idle"), a = Job("a");
  busy.profile.exposed_s = 0.001;
  state_.placed = {OnAll(busy, {state_.nodes[0]}), OnAll(idle, {state_.nodes[1]})};
  Allocator allocator(Occupancy(state_), context_);
  EXPECT_TRUE(allocator.JoinBest(a));
  EXPECT_EQ(allocator.steps()[0].beside[0]->id, "idle");
}

TEST_F(AllocatorTest, SeatsAreOnePerPod) {
  const std::vector<GpuRef> gpus{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}};
  const std::vector<Seat> seats = SeatsOn(state_, gpus, 2);
  ASSERT_EQ(seats.size(), 3u);
  EXPECT_EQ(seats[1].node, "n0");
  EXPECT_EQ(seats[1].gpus, (std::vector<std::string>{"n0-2", "n0-3"}));
  EXPECT_EQ(seats[2].node, "n1");
}

TEST_F(AllocatorTest, SeatsOfOneDomainFollowEachOther) {
  state_.nodes = Nodes(5, 1);
  const std::vector<std::vector<std::string>> domains = {
      {"east", "r2"}, {"west", "r1"}, {"east", "r1"}, {"west", "r1"}, {"east", "r2"}};
  std::vector<GpuRef> gpus;
  for (int n = 0; n < 5; ++n) {
    state_.nodes[static_cast<std::size_t>(n)].domains = domains[static_cast<std::size_t>(n)];
    gpus.push_back({n, 0});
  }
  std::string order;
  for (const Seat& seat : SeatsOn(state_, gpus, 1)) order += seat.node + " ";
  EXPECT_EQ(order, "n2 n0 n4 n1 n3 ");
}

}  // namespace
}  // namespace crossover::placement
