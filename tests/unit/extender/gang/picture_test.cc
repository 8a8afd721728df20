#include "extender/gang/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>

namespace crossover::extender {
namespace {

using testing::HasSubstr;

// Has two nodes. MPS serves one user on the first.
class UsersOnNodesTest : public ::testing::Test {
 protected:
  UsersOnNodesTest() {
    desk_.world = &world_;
    for (const char* name : {"n0", "n1"}) {
      placement::Node node;
      node.name = name;
      node.one_user = state_.nodes.empty();
      state_.nodes.push_back(node);
    }
    own_.id = "own";
    plain_.id = "plain";
    own_.pods = plain_.pods = 2;
    own_.gpus_per_pod = plain_.gpus_per_pod = 1;
    own_.own_users = true;
  }
  placement::Fit On(int node, const placement::Gang& gang,
                    std::span<const placement::Planned> planned = {}) const {
    return FitnessOf(desk_, state_)(gang, node, planned);
  }
  void Place(const placement::Gang& gang, const char* node) {
    placement::Placed placed;
    placed.gang = gang;
    placed.seats = {{.node = node, .gpus = {"GPU-1"}}};
    state_.placed = {placed};
  }

  World world_;
  Desk desk_;
  placement::State state_;
  placement::Gang own_, plain_;
};

TEST_F(UsersOnNodesTest, APodWithAUserOfItsOwnIsAloneWhereMpsServesOne) {
  EXPECT_EQ(On(0, own_).pods, 1) << "not beside another pod of its gang";
  EXPECT_THAT(On(0, own_).why, HasSubstr("hostUsers: false"));
  EXPECT_GT(On(1, own_).pods, 1);
  EXPECT_GT(On(0, plain_).pods, 1);
  own_.pods = 1;
  EXPECT_EQ(On(0, own_).pods, 1);
  EXPECT_EQ(On(0, own_).why, "") << "nothing keeps it from there";
}

TEST_F(UsersOnNodesTest, ItMeetsNoOtherAndNoOtherMeetsIt) {
  Place(plain_, "n0");
  EXPECT_EQ(On(0, own_).pods, 0);
  EXPECT_GT(On(0, plain_).pods, 1);
  Place(own_, "n0");
  EXPECT_EQ(On(0, plain_).pods, 0);
  EXPECT_THAT(On(0, plain_).why, HasSubstr("hostUsers: false"));
  EXPECT_FALSE(On(0, plain_).never);
  Place(own_, "n1");
  EXPECT_GT(On(1, plain_).pods, 1) << "MPS serves all users there, or is not used";
}

TEST_F(UsersOnNodesTest, WhatTheSameDecisionPutsThereCounts) {
  const std::array planned{placement::Planned{&own_, 1}};
  EXPECT_EQ(On(0, plain_, planned).pods, 0);
  const std::array others{placement::Planned{&plain_, 1}};
  EXPECT_EQ(On(0, own_, others).pods, 0);
  EXPECT_GT(On(0, plain_, others).pods, 1);
}

}  // namespace
}  // namespace crossover::extender
