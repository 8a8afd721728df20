#include "cli/cluster/gather.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/cluster/kubectl.h"

namespace crossover::cli {
namespace {

using nlohmann::json;

json Renewed(const char* at) { return {{"spec", {{"renewTime", at}}}}; }

TEST(TimeInTest, IsThatOfWhatIsRenewed) {
  constexpr double kEight = 1'800'000'000;  // 2027-01-15T08:00:00Z
  const json leases = {Renewed("2027-01-15T07:00:00Z"),
                       Renewed("2027-01-15T07:58:00.5Z"),
                       Renewed("2027-01-15T07:52:00Z"),
                       Renewed("2027-01-15T08:02:00Z"),
                       Renewed("2027-01-15T07:57:58Z"),
                       Renewed("2027-01-15T07:58:00.5Z"),
                       json(7),
                       Renewed("soon")};
  EXPECT_DOUBLE_EQ(TimeIn(leases, kEight), kEight - 119.5) << "the clock here is two minutes ahead";
  EXPECT_DOUBLE_EQ(TimeIn(leases, kEight - 240), kEight - 119.5) << "or behind";
  EXPECT_DOUBLE_EQ(TimeIn(leases, kEight - 100), kEight - 100) << "it is right";
  EXPECT_DOUBLE_EQ(TimeIn(leases, kEight + 3000), kEight + 3000) << "no extender has renewed them for long";
  EXPECT_DOUBLE_EQ(TimeIn(json::array(), kEight), kEight);
}

TEST(KubectlTest, AProgramThatIsNotThereIsNamed) {
  std::string error;
  EXPECT_FALSE(Kubectl({}, "/nowhere/kubectl").List({"nodes"}, &error));
  EXPECT_EQ(error, "/nowhere/kubectl: cannot be started: look whether it is on the PATH");
}

TEST(SawNothingTest, IsSoWhereOnlyListsOfKindsThatAClusterMayLackAreThere) {
  ClusterFacts facts;
  EXPECT_TRUE(SawNothing(facts));
  for (const Sought& each : kSought) {
    if (each.optional) facts.lists[each.name] = json::array();
  }
  ASSERT_FALSE(facts.lists.empty());
  EXPECT_TRUE(SawNothing(facts)) << "a user who may list nothing is told why, and no finding";
  facts.lists["nodes"] = json::array();
  EXPECT_FALSE(SawNothing(facts));
}

}  // namespace
}  // namespace crossover::cli
