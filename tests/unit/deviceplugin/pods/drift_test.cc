#include "deviceplugin/pods/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Pod MadePod(const std::string& name, const std::string& assignment = "", const std::string& owner = "train") {
  Pod pod;
  pod.uid = "uid-" + name;
  pod.name_space = "team";
  pod.name = name;
  pod.owner = owner;
  if (!assignment.empty()) pod.annotations["crossover.dev/assignment"] = assignment;
  return pod;
}

TEST(DriftTest, ContainersThatHaveWhatTheyWereAssignedHaveNotDrifted) {
  const std::vector<Pod> pods = {MadePod("a", R"({"containers": {"main": ["GPU-2", "GPU-1"]}})"),
                                 MadePod("free")};
  EXPECT_THAT(FindDrift(pods, {{"uid-a", "main", {"GPU-1::0", "GPU-2::3"}, ""},
                               {"uid-a", "side", {"GPU-7::0"}, ""},
                               {"uid-free", "main", {"GPU-7::1"}, ""},
                               {"uid-of-one-that-is-gone", "main", {"GPU-1::1"}, ""}}),
              IsEmpty());
}

TEST(DriftTest, OthersAreNamedWithBoth) {
  const std::vector<Pod> pods = {MadePod("a", R"({"containers": {"main": ["GPU-1", "GPU-2"]}})")};
  EXPECT_THAT(FindDrift(pods, {{"uid-a", "main", {"GPU-1::0", "GPU-3::0"}, ""}}),
              ElementsAre(Drift{"uid-a", "main", {"GPU-1", "GPU-2"}, {"GPU-1", "GPU-3"}}));
  std::vector<Pod> over = pods;
  over[0].over = true;
  EXPECT_THAT(FindDrift(over, {{"uid-a", "main", {"GPU-1::0", "GPU-3::0"}, ""}}), IsEmpty());
}

TEST(CollisionTest, TwoRanksOfAGangOnOneGpu) {
  std::vector<Pod> pods = {MadePod("a-0"), MadePod("a-1"), MadePod("b-0", "", "other")};
  const std::vector<DeviceAllocation> handed_out = {{"uid-a-0", "main", {"GPU-1::0"}, ""},
                                                    {"uid-a-1", "main", {"GPU-1::1"}, ""},
                                                    {"uid-b-0", "main", {"GPU-1::2"}, ""}};
  EXPECT_THAT(FindCollisions(pods, handed_out),
              ElementsAre(Collision{"team/train", "GPU-1", {"uid-a-0", "uid-a-1"}}));
  pods[0].over = true;
  EXPECT_THAT(FindCollisions(pods, handed_out), IsEmpty()) << "the one took the place of the other";
}

// The controller may be one whose pods are known as no job.
TEST(CollisionTest, TwoPodsOfOneControllerOnOneGpu) {
  std::vector<Pod> pods = {MadePod("a-0", "", ""), MadePod("a-1", "", ""), MadePod("b-0", "", "")};
  for (Pod& pod : pods) {
    pod.owner.clear();
    pod.annotations.clear();
    pod.controller = "StatefulSet/a";
    pod.controller_uid = pod.name.starts_with("a") ? "uid-of-a" : "uid-of-another-a";
  }
  const std::vector<DeviceAllocation> handed_out = {{"uid-a-0", "main", {"GPU-1::0"}, ""},
                                                    {"uid-a-1", "main", {"GPU-1::1"}, ""},
                                                    {"uid-b-0", "main", {"GPU-1::2"}, ""}};
  EXPECT_THAT(FindCollisions(pods, handed_out),
              ElementsAre(Collision{"team/StatefulSet/a", "GPU-1", {"uid-a-0", "uid-a-1"}}));
  pods[1].annotations["crossover.dev/gang"] = "sweep-1";
  EXPECT_THAT(FindCollisions(pods, handed_out), IsEmpty()) << "its user says that it is another job";
}

TEST(CollisionTest, WhicheverCameLastStandsLast) {
  std::vector<Pod> pods = {MadePod("a-0"), MadePod("a-1"), MadePod("a-2")};
  pods[0].created_s = 2;
  pods[1].created_s = pods[2].created_s = 1;
  pods[1].arrival = 8;
  pods[2].arrival = 7;
  const auto collisions = FindCollisions(pods, {{"uid-a-0", "main", {"GPU-1::0"}, ""},
                                                {"uid-a-1", "main", {"GPU-1::1"}, ""},
                                                {"uid-a-2", "main", {"GPU-1::2"}, ""}});
  ASSERT_EQ(collisions.size(), 1u);
  EXPECT_THAT(collisions[0].pods, ElementsAre("uid-a-2", "uid-a-1", "uid-a-0"));
}

TEST(DoubleTest, ASlotOfTwoPods) {
  std::vector<Pod> pods = {MadePod("a", "", "one"), MadePod("b", "", "other")};
  const std::vector<DeviceAllocation> handed_out = {{"uid-a", "main", {"GPU-1::0", "GPU-2::0"}, ""},
                                                    {"uid-b", "main", {"GPU-1::0"}, ""},
                                                    {"uid-of-one-that-is-gone", "main", {"GPU-2::0"}, ""}};
  EXPECT_THAT(FindDuplicates(pods, handed_out),
              ElementsAre(DuplicateAllocation{"GPU-1::0", {"uid-a", "uid-b"}}));
  pods[0].over = true;
  EXPECT_THAT(FindDuplicates(pods, handed_out), IsEmpty());
}

TEST(DoubleTest, AContainerMayHaveTheSlotOfOneThatInitialised) {
  EXPECT_THAT(FindDuplicates({MadePod("a")},
                             {{"uid-a", "init", {"GPU-1::0"}, ""}, {"uid-a", "main", {"GPU-1::0"}, ""}}),
              IsEmpty());
}

TEST(CollisionTest, TwoContainersOfOnePodAreOneRank) {
  EXPECT_THAT(FindCollisions({MadePod("a-0")},
                             {{"uid-a-0", "main", {"GPU-1::0"}, ""}, {"uid-a-0", "side", {"GPU-1::1"}, ""}}),
              IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin
