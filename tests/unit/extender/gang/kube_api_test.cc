#include "extender/gang/kube_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

using nlohmann::json;
using ::testing::EndsWith;

Action OnPod(Action::Kind kind, std::string text = "") {
  return {.kind = kind, .pod = {.uid = "u1", .name_space = "team", .name = "job-0"}, .text = std::move(text)};
}

json BodyOf(const Action& action) { return json::parse(RequestOf(action).body); }

TEST(KubeApi, EveryWriteIsOfThePodWithThatUid) {
  for (const auto kind : {Action::Kind::kReserve, Action::Kind::kClear, Action::Kind::kRelease}) {
    EXPECT_EQ(RequestOf(OnPod(kind)).method, "PATCH");
    EXPECT_EQ(RequestOf(OnPod(kind)).path, "/api/v1/namespaces/team/pods/job-0");
    EXPECT_EQ(BodyOf(OnPod(kind))["metadata"]["uid"], "u1");
  }
  EXPECT_EQ(BodyOf(OnPod(Action::Kind::kBind))["metadata"]["uid"], "u1");
  EXPECT_EQ(BodyOf(OnPod(Action::Kind::kDelete))["preconditions"]["uid"], "u1");
  EXPECT_EQ(RequestOf(OnPod(Action::Kind::kDelete)).method, "DELETE");
}

TEST(KubeApi, ReservationsComeAndGo) {
  const auto annotations = [](const Action& action) { return BodyOf(action)["metadata"]["annotations"]; };
  const auto both = [](const json& reservation, const json& granted) {
    return json({{"crossover.dev/reservation", reservation}, {"crossover.dev/status-gpu-memory", granted}});
  };
  Action action = OnPod(Action::Kind::kReserve, "here");
  EXPECT_EQ(annotations(action), both("here", nullptr)) << "what an earlier plan granted is gone";
  action.memory = 1u << 30;
  EXPECT_EQ(annotations(action), both("here", "1073741824"));
  EXPECT_EQ(annotations(OnPod(Action::Kind::kClear)), both(nullptr, nullptr));
}

// Other gates are in the same list.
TEST(KubeApi, OurGateAloneIsLifted) {
  const Action action = OnPod(Action::Kind::kRelease, "7");
  EXPECT_EQ(RequestOf(action).content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(BodyOf(action)["spec"],
            json::parse(R"({"schedulingGates": [{"$patch": "delete", "name": "crossover.dev/gang"}]})"));
  EXPECT_EQ(BodyOf(action)["metadata"]["annotations"], json({{"crossover.dev/requeue", "7"}}));
}

TEST(KubeApi, ABindingCarriesTheAssignment) {
  Action action = OnPod(Action::Kind::kBind, "{}");
  action.node = "n1";
  EXPECT_THAT(RequestOf(action).path, EndsWith("/pods/job-0/binding"));
  EXPECT_EQ(BodyOf(action)["target"]["name"], "n1");
  EXPECT_EQ(BodyOf(action)["metadata"]["annotations"], json({{"crossover.dev/assignment", "{}"}}));
  action.text.clear();
  EXPECT_FALSE(BodyOf(action)["metadata"].contains("annotations"));
}

TEST(KubeApi, OwnersAreFoundByTheirKind) {
  EXPECT_EQ(PathOf({"batch/v1", "Job", "team", "a"}), "/apis/batch/v1/namespaces/team/jobs/a");
  EXPECT_EQ(PathOf({"v1", "Pod", "team", "a"}), "/api/v1/namespaces/team/pods/a");
  EXPECT_EQ(PathOf({"jobset.x-k8s.io/v1alpha2", "JobSet", "team", "a"}),
            "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets/a");
}

TEST(KubeApi, NoOwnerLeadsElsewhere) {
  for (const OwnerRef& owner :
       {OwnerRef{"batch/v1", "Job", "team", "a/../../secrets/b"}, OwnerRef{"batch/v1", "Job?x=", "team", "a"},
        OwnerRef{"batch/v1", "Job", "", "a"}, OwnerRef{"v1 /x", "Job", "team", "a"}})
    EXPECT_EQ(PathOf(owner), "");
}

}  // namespace
}  // namespace crossover::extender
