#include "extender/placement/users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

using testing::HasSubstr;

// Has two nodes. MPS serves one user on the first.
class UsersTest : public ::testing::Test {
 protected:
  UsersTest() {
    state_.nodes[0].one_user = true;
    own_.users = Users::kOwn;
  }
  Fit On(int node, const Gang& gang, std::span<const Planned> planned = {}) const {
    return LimitedByUser(state_, FitsAnywhere)(gang, node, planned);
  }

  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
  Gang own_ = Job("own", 2), plain_ = Job("plain", 2);
};

TEST_F(UsersTest, APodWithAUserOfItsOwnIsAloneWhereMpsServesOne) {
  EXPECT_EQ(On(0, own_).pods, 1) << "not beside another pod of its gang";
  EXPECT_EQ(On(0, own_).ever, 1);
  EXPECT_THAT(On(0, own_).why, HasSubstr("hostUsers: false"));
  EXPECT_GT(On(1, own_).pods, 1);
  EXPECT_GT(On(0, plain_).pods, 1);
  own_.pods = 1;
  EXPECT_EQ(On(0, own_).pods, 1);
  EXPECT_EQ(On(0, own_).why, "") << "nothing keeps it from there";
}

TEST_F(UsersTest, ItMeetsNoOtherAndNoOtherMeetsIt) {
  state_.placed = {placement::On(plain_, {{"n0", {"n0-0"}}})};
  EXPECT_EQ(On(0, own_).pods, 0);
  EXPECT_EQ(On(0, own_).ever, 1) << "once the other has ended";
  EXPECT_GT(On(0, plain_).pods, 1);
  state_.placed = {placement::On(own_, {{"n0", {"n0-0"}}})};
  EXPECT_EQ(On(0, plain_).pods, 0);
  EXPECT_THAT(On(0, plain_).why, HasSubstr("a job there has hostUsers: false, which gives each of its pods"));
  EXPECT_GT(On(0, plain_).ever, 1);
  state_.placed = {placement::On(own_, {{"n1", {"n1-0"}}})};
  EXPECT_GT(On(1, plain_).pods, 1) << "MPS serves all users there, or is not used";
}

TEST_F(UsersTest, PodsOfDifferentUsersAreToldSo) {
  own_.users = Users::kUnlike;
  EXPECT_EQ(On(0, own_).pods, 1);
  EXPECT_THAT(On(0, own_).why,
              HasSubstr("the pods of one job have several user IDs: use the same runAsUser"));
  state_.placed = {placement::On(own_, {{"n0", {"n0-0"}}})};
  EXPECT_THAT(On(0, plain_).why, HasSubstr("a job there has several user IDs: wait"));
}

TEST_F(UsersTest, APodOfSeveralUsersIsNeverThere) {
  own_.users = Users::kMixed;
  own_.pods = 1;
  EXPECT_EQ(On(0, own_).pods, 0);
  EXPECT_TRUE(On(0, own_).never());
  EXPECT_THAT(On(0, own_).why,
              HasSubstr("the containers of one pod have several user IDs: use the same runAsUser"));
  EXPECT_GT(On(1, own_).pods, 1);
}

TEST_F(UsersTest, WhatTheSameDecisionPutsThereCounts) {
  const std::array planned{Planned{&own_, 1}};
  EXPECT_EQ(On(0, plain_, planned).pods, 0);
  const std::array others{Planned{&plain_, 1}};
  EXPECT_EQ(On(0, own_, others).pods, 0);
  EXPECT_GT(On(0, plain_, others).pods, 1);
}

TEST_F(UsersTest, WhatTheSameDecisionTakesAwayDoesNotCount) {
  state_.placed = {placement::On(plain_, {{"n0", {"n0-0"}}}), placement::On(plain_, {{"n0", {"n0-1"}}})};
  const std::array one{Planned{&state_.placed[0].gang, -1}};
  EXPECT_EQ(On(0, own_, one).pods, 0) << "the other one stays";
  const std::array both{Planned{&state_.placed[0].gang, -1}, Planned{&state_.placed[1].gang, -1}};
  EXPECT_EQ(On(0, own_, both).pods, 1);
}

}  // namespace
}  // namespace crossover::placement
