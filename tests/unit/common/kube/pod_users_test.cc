#include "common/kube/pod_users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;

json Spec() {
  return json::parse(R"({"securityContext": {"runAsUser": 1000},
    "initContainers": [{"name": "warm"}],
    "containers": [{"name": "proxy", "securityContext": {"runAsUser": 1337}},
                   {"name": "main", "resources": {"limits": {"crossover.dev/slot": "1"}}}]})");
}

TEST(PodUsersTest, AreThoseOfTheContainersWithSlots) {
  json spec = Spec();
  EXPECT_THAT(UsersOf(spec), ElementsAre(1000u)) << "the proxy uses no GPU";
  spec["containers"][1]["securityContext"]["runAsUser"] = 2000;
  EXPECT_THAT(UsersOf(spec), ElementsAre(2000u));
  spec["initContainers"][0]["resources"]["requests"]["crossover.dev/slot"] = "1";
  EXPECT_THAT(UsersOf(spec), ElementsAre(1000u, 2000u)) << "an init container counts, too";
  spec.erase("securityContext");
  EXPECT_THAT(UsersOf(spec), ElementsAre(UserId(), 2000u)) << "its image decides";
}

TEST(PodUsersTest, WithoutSlotsThePodsUserCounts) {
  json spec = Spec();
  spec["containers"].erase(1);
  EXPECT_THAT(UsersOf(spec), ElementsAre(1000u));
  EXPECT_THAT(UsersOf(json()), ElementsAre(UserId()));
}

TEST(PodUsersTest, OddIdsAreTakenForTheNearest) {
  json spec = Spec();
  json& user = spec["securityContext"]["runAsUser"];
  user = -5;
  EXPECT_THAT(UsersOf(spec), ElementsAre(0u));
  user = UINT64_MAX;
  EXPECT_THAT(UsersOf(spec), ElementsAre(UINT32_MAX));
  user = "1000";
  EXPECT_THAT(UsersOf(spec), ElementsAre(UserId())) << "it names none";
}

TEST(PodUsersTest, TheyAreThePodsOwnWithAUserNamespace) {
  EXPECT_TRUE(HasOwnUsers({{"hostUsers", false}}));
  for (const json& value : {json(true), json(nullptr), json("false"), json(0)})
    EXPECT_FALSE(HasOwnUsers({{"hostUsers", value}})) << value;
  EXPECT_FALSE(HasOwnUsers(json()));
}

}  // namespace
}  // namespace crossover::kube
