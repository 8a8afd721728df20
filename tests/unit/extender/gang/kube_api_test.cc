#include "extender/gang/kube_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/common/kube/server.h"

namespace crossover::extender {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Action OnPod(Action::Kind kind, std::string text = "") {
  return {.kind = kind, .pod = {.uid = "u1", .name_space = "team", .name = "job-0"}, .text = std::move(text)};
}

json BodyOf(const Action& action) { return json::parse(RequestOf(action).body); }

TEST(KubeApi, EveryWriteIsOfThePodWithThatUid) {
  for (const auto kind :
       {Action::Kind::kReserve, Action::Kind::kClear, Action::Kind::kRelease, Action::Kind::kAge}) {
    EXPECT_EQ(RequestOf(OnPod(kind)).method, "PATCH");
    EXPECT_EQ(RequestOf(OnPod(kind)).path, "/api/v1/namespaces/team/pods/job-0");
    EXPECT_EQ(BodyOf(OnPod(kind))["metadata"]["uid"], "u1");
  }
  EXPECT_EQ(BodyOf(OnPod(Action::Kind::kBind))["metadata"]["uid"], "u1");
}

TEST(KubeApi, APodIsEvictedAndNotDeleted) {
  const Action action = OnPod(Action::Kind::kEvict);
  EXPECT_EQ(RequestOf(action).method, "POST");
  EXPECT_EQ(RequestOf(action).path, "/api/v1/namespaces/team/pods/job-0/eviction");
  EXPECT_EQ(BodyOf(action), json::parse(R"({"apiVersion": "policy/v1", "kind": "Eviction",
    "metadata": {"name": "job-0", "namespace": "team"}, "deleteOptions": {"preconditions": {"uid": "u1"}}})"));
}

TEST(KubeApi, ReservationsComeAndGo) {
  const auto annotations = [](const Action& action) { return BodyOf(action)["metadata"]["annotations"]; };
  const auto all = [](const json& reservation, const json& granted, const json& level, const json& why) {
    return json({{"crossover.dev/reservation", reservation},
                 {"crossover.dev/status-gpu-memory", granted},
                 {"crossover.dev/status-shrink", level},
                 {"crossover.dev/status-shrink-why", why}});
  };
  const json none;
  Action action = OnPod(Action::Kind::kReserve, "here");
  EXPECT_EQ(annotations(action), all("here", none, none, none)) << "what an earlier plan granted is gone";
  action.memory = 1u << 30;
  EXPECT_EQ(annotations(action), all("here", "1073741824", none, none));
  action.shrink = "q8";
  action.shrink_why = "it waits";
  EXPECT_EQ(annotations(action), all("here", "1073741824", "q8", "it waits"));
  EXPECT_EQ(annotations(OnPod(Action::Kind::kClear)), all(none, none, none, none));
  EXPECT_EQ(annotations(OnPod(Action::Kind::kAge, "then")),
            json({{"crossover.dev/status-made-room", "then"}}));
}

// Other gates are in the same list and must stay.
TEST(KubeApi, OurGateAloneIsLifted) {
  const Action action = OnPod(Action::Kind::kRelease, "7");
  EXPECT_EQ(RequestOf(action).content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(BodyOf(action)["spec"],
            json::parse(R"({"schedulingGates": [{"$patch": "delete", "name": "crossover.dev/gang"}]})"));
  EXPECT_EQ(BodyOf(action)["metadata"]["annotations"], json({{"crossover.dev/requeue", "7"}}));
}

TEST(KubeApi, AGateIsLiftedTogetherWithWhatAutoscalersAreTold) {
  Action action = OnPod(Action::Kind::kRelease, "no plan");
  action.preferences = R"([{"weight": 1, "preference": {}}])";
  EXPECT_EQ(BodyOf(action)["spec"], json::parse(R"({
    "schedulingGates": [{"$patch": "delete", "name": "crossover.dev/gang"}],
    "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
      [{"weight": 1, "preference": {}}]}}})"));
}

// The nomination is a request of its own, because a pod's status is a resource of its own to the API
// server.
TEST(KubeApi, APodIsNominatedBeforeItsGateIsLifted) {
  Action action = OnPod(Action::Kind::kRelease, "7");
  EXPECT_FALSE(NominationOf(action)) << "to no node";
  action.node = "n1";
  const auto request = NominationOf(action);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "PATCH");
  EXPECT_EQ(request->path, "/api/v1/namespaces/team/pods/job-0/status");
  EXPECT_EQ(json::parse(request->body),
            json({{"metadata", {{"uid", "u1"}}}, {"status", {{"nominatedNodeName", "n1"}}}}));
}

TEST(KubeApi, ANominationIsTakenBackBeforeTheReservation) {
  const auto request = NominationOf(OnPod(Action::Kind::kClear));
  ASSERT_TRUE(request) << "whichever controller made it";
  EXPECT_EQ(json::parse(request->body)["status"], json({{"nominatedNodeName", nullptr}}));
  Action bind = OnPod(Action::Kind::kBind);
  bind.node = "n1";
  EXPECT_FALSE(NominationOf(bind)) << "the node is that of the Binding";
}

class KubeApiTest : public ::testing::Test {
 protected:
  Action Release() const {
    Action action = OnPod(Action::Kind::kRelease, "7");
    action.node = "n1";
    return action;
  }

  kube::Server server_;
  std::atomic<bool> leads_{true};
  KubeApi api_{kube::Access{.server = server_.url(), .ca_file = "", .token_file = ""}, "me",
               [this] { return leads_.load(); }};
};

TEST_F(KubeApiTest, APodThatCannotBeNominatedIsReleasedAllTheSame) {
  server_.Answer({.status = 403, .body = R"({"message": "pods/status is forbidden"})", .to = "/status"});
  server_.Answer(200, R"({"metadata": {"uid": "u1", "resourceVersion": "8"}})");
  const Result result = api_.Write(Release());
  EXPECT_EQ(result.outcome, Outcome::kDone);
  EXPECT_EQ(result.version, "8");
  EXPECT_EQ(api_.nomination_failures(), 1u);
  EXPECT_THAT(server_.AwaitRequest(0), HasSubstr("/pods/job-0/status"));
  server_.Answer(200, R"({"metadata": {"uid": "u1", "resourceVersion": "9"}})");
  EXPECT_EQ(api_.Write(Release()).version, "9");
  EXPECT_EQ(server_.requests(), 3u)
      << "for a while no request tries to nominate, which may have taken half a minute";
}

// Otherwise the node would keep room for a pod that has no place there.
TEST_F(KubeApiTest, AReservationStaysUntilItsNominationIsTakenBack) {
  server_.Answer(503, "{}");
  EXPECT_EQ(api_.Write(OnPod(Action::Kind::kClear)).outcome, Outcome::kUnknown);
  server_.Answer(429, "{}");
  EXPECT_EQ(api_.Write(OnPod(Action::Kind::kClear)).outcome, Outcome::kRefused);
  EXPECT_EQ(server_.requests(), 2u);
  server_.Answer(200, "{}");
  server_.Answer(200, R"({"metadata": {"uid": "u1", "resourceVersion": "9"}})");
  EXPECT_EQ(api_.Write(OnPod(Action::Kind::kClear)).outcome, Outcome::kDone);
}

TEST_F(KubeApiTest, WhoMayNotNominateClearsReservationsAllTheSame) {
  server_.Answer(403, "{}");
  server_.Answer(200, R"({"metadata": {"uid": "u1", "resourceVersion": "9"}})");
  EXPECT_EQ(api_.Write(OnPod(Action::Kind::kClear)).outcome, Outcome::kDone);
}

TEST_F(KubeApiTest, ALeaderThatIsNoneAnyMoreWritesNothingElse) {
  server_.Answer({.status = 200, .body = "{}", .first = [this] { leads_ = false; }});
  EXPECT_EQ(api_.Write(Release()).outcome, Outcome::kUnknown);
  EXPECT_EQ(server_.requests(), 1u);
}

TEST_F(KubeApiTest, APodThatIsGoneIsNoFailureToNominate) {
  server_.Answer(404, "{}");
  server_.Answer(404, "{}");
  EXPECT_EQ(api_.Write(Release()).outcome, Outcome::kGone);
  EXPECT_EQ(api_.nomination_failures(), 0u);
}

// An earlier attempt, whose answer was lost, may have succeeded. The result therefore says what the pod
// says, along with the refusal.
TEST_F(KubeApiTest, ThePodIsLookedAtAfterARefusedBinding) {
  Action action = OnPod(Action::Kind::kBind);
  action.node = "n1";
  server_.Answer(403, R"({"message": "forbidden"})");
  server_.Answer(200, R"({"metadata": {"uid": "u1", "resourceVersion": "9"}, "spec": {"nodeName": "n1"}})");
  const Result result = api_.Write(action);
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_TRUE(result.looked);
  EXPECT_EQ(result.node, "n1");
  EXPECT_EQ(result.version, "9");
}

TEST_F(KubeApiTest, NothingIsKnownOfABindingWhereThePodCannotBeLookedAt) {
  server_.Answer(409, R"({"message": "conflict"})");
  server_.Answer(503, "{}");
  const Result result = api_.Write(OnPod(Action::Kind::kBind));
  EXPECT_EQ(result.outcome, Outcome::kUnknown);
  EXPECT_FALSE(result.looked);
}

// A proxy before the API server may answer with a page of its own.
TEST_F(KubeApiTest, AnAnswerThatIsNoObjectSaysNothing) {
  server_.Answer(200, "<html>");
  const Result written = api_.Write(OnPod(Action::Kind::kReserve));
  EXPECT_EQ(written.outcome, Outcome::kDone);
  EXPECT_EQ(written.version, "");
  for (const char* body : {"<html>", "7"}) {
    server_.Answer(409, R"({"message": "conflict"})");
    server_.Answer(200, body);
    EXPECT_EQ(api_.Write(OnPod(Action::Kind::kBind)).outcome, Outcome::kUnknown)
        << "not that the pod is gone";
  }
  server_.Answer(200, "<html>");
  std::string error;
  EXPECT_TRUE(api_.Read({"batch/v1", "Job", "team", "a"}, &error).is_null());
  EXPECT_EQ(error, "/apis/batch/v1/namespaces/team/jobs/a: expected an object in JSON, got another answer");
}

TEST_F(KubeApiTest, ThatTheServerIsBusySaysNothingOfEarlierBindings) {
  server_.Answer(429, "{}");
  const Result result = api_.Write(OnPod(Action::Kind::kBind));
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_FALSE(result.looked);
  EXPECT_EQ(server_.requests(), 1u) << "no request was made";
}

// Both are status 429. Only a server that is busy asks for a pause of everything.
TEST_F(KubeApiTest, ABudgetThatForbidsAnEvictionIsNotABusyServer) {
  server_.Answer({.status = 429,
                  .body = R"({"message": "Cannot evict pod as it would violate the pod's disruption budget.",
      "details": {"retryAfterSeconds": 10, "causes": [{"reason": "DisruptionBudget",
        "message": "The disruption budget train needs 2 healthy pods and has 2 currently"}]}})",
                  .headers = "Retry-After: 10\r\n"});
  const Result forbidden = api_.Write(OnPod(Action::Kind::kEvict));
  EXPECT_EQ(forbidden.outcome, Outcome::kRefused);
  EXPECT_TRUE(forbidden.forbidden);
  EXPECT_EQ(forbidden.error, "The disruption budget train needs 2 healthy pods and has 2 currently");
  EXPECT_EQ(forbidden.retry_after_s, 0);
  server_.Answer(
      {.status = 429, .body = R"({"message": "too many requests"})", .headers = "Retry-After: 7\r\n"});
  const Result busy = api_.Write(OnPod(Action::Kind::kEvict));
  EXPECT_EQ(busy.outcome, Outcome::kRefused);
  EXPECT_FALSE(busy.forbidden);
  EXPECT_EQ(busy.retry_after_s, 7);
  server_.Answer(
      500,
      R"({"message": "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."})");
  EXPECT_TRUE(api_.Write(OnPod(Action::Kind::kEvict)).forbidden);
  server_.Answer(500, R"({"message": "etcdserver: request timed out"})");
  const Result unknown = api_.Write(OnPod(Action::Kind::kEvict));
  EXPECT_EQ(unknown.outcome, Outcome::kUnknown);
  EXPECT_FALSE(unknown.forbidden);
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
