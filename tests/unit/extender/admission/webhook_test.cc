#include "extender/admission/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "extender/admission/update_validation.h"
#include "tests/unit/extender/admission/made_pod.h"

namespace crossover::extender::admission {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Counted : Count {
  void Add(Outcome outcome) override { all.push_back(outcome); }
  void Took(double seconds) override { took.push_back(seconds); }
  std::vector<Outcome> all;
  std::vector<double> took;
};

json Review(const std::string& operation, const json& object, bool dry_run = false) {
  return {{"kind", "AdmissionReview"},
          {"apiVersion", "admission.k8s.io/v1"},
          {"request",
           {{"uid", "u-1"},
            {"operation", operation},
            {"resource", {{"group", ""}, {"version", "v1"}, {"resource", "pods"}}},
            {"namespace", "team"},
            {"userInfo", {{"username", "ann"}}},
            {"dryRun", dry_run},
            {"object", object}}}};
}

class WebhookTest : public ::testing::Test {
 protected:
  json Response(const json& review) {
    const HttpAnswer answer = webhook_.Answer(review.dump());
    EXPECT_EQ(answer.status, 200);
    const json response = json::parse(answer.body)["response"];
    EXPECT_EQ(response["uid"], "u-1");
    return response;
  }

  Counted counted_;
  Webhook webhook_{{.rewrite = {}, .writers = {"extender"}},
                   [](const std::string&) { return NamespaceLimits(); },
                   &counted_};
};

TEST_F(WebhookTest, PodsAreRewrittenRefusedOrLeftAndCounted) {
  EXPECT_TRUE(Response(Review("CREATE", MadePod({{"crossover.dev/share", "true"}}))).contains("patch"));
  const json refused = Response(Review("CREATE", MadePod({{"crossover.dev/share", "yes"}})));
  EXPECT_EQ(refused["allowed"], false);
  EXPECT_THAT(refused["status"]["message"].get<std::string>(),
              HasSubstr("crossover.dev/share: expected true or exclusive, got yes"));
  EXPECT_FALSE(Response(Review("CREATE", MadePod(json::object()))).contains("patch"));
  EXPECT_EQ(Response(Review("DELETE", nullptr))["allowed"], true);
  EXPECT_THAT(counted_.all,
              ElementsAre(Outcome::kRewritten, Outcome::kRefused, Outcome::kUntouched, Outcome::kUntouched));
}

TEST_F(WebhookTest, ADryRunIsAnsweredAlikeAndNotCounted) {
  const json pod = MadePod({{"crossover.dev/share", "true"}});
  EXPECT_EQ(Response(Review("CREATE", pod, true)), Response(Review("CREATE", pod)));
  EXPECT_EQ(counted_.all.size(), 1u);
}

TEST_F(WebhookTest, ObjectsOfAnyKindAreAnswered) {
  for (const json& object : {json(), json(3), json::array({1}), json({{"metadata", 3}}),
                             json({{"metadata", {{"annotations", {1}}}}, {"spec", 3}}),
                             json({{"metadata", {{"annotations", {{"crossover.dev/share", "true"}}}}},
                                   {"spec", {{"containers", {3, nullptr, {{"resources", 3}}}}}}})})
    Response(Review("CREATE", object));
  EXPECT_EQ(webhook_.Answer("garbage").status, 400);
  EXPECT_EQ(counted_.all.back(), Outcome::kMalformed);
}

TEST_F(WebhookTest, OnlyPostIsAnswered) {
  std::vector<int> statuses;
  for (const char* method : {"GET", "POST"}) {
    HttpRequest request;
    request.method = method;
    request.body = Review("CREATE", MadePod(json::object())).dump();
    webhook_.handler()(request, [&statuses](const HttpAnswer& answer) { statuses.push_back(answer.status); });
  }
  EXPECT_THAT(statuses, ElementsAre(405, 200));
  EXPECT_EQ(counted_.took.size(), 1u) << "how long it took";
}

TEST_F(WebhookTest, WhatPodsSayIsChangedByOurServicesAlone) {
  json review = Review("UPDATE", MadePod({{"crossover.dev/assignment", "{}"}}));
  review["request"]["oldObject"] = MadePod(json::object());
  EXPECT_EQ(Response(review)["allowed"], false);
  review["request"]["userInfo"]["username"] = "extender";
  EXPECT_EQ(Response(review)["allowed"], true);
}

// A kubelet makes the mirror of a static pod, which runs already.
TEST_F(WebhookTest, TheMirrorOfAStaticPodIsLeftAlone) {
  json pod = MadePod({{"crossover.dev/share", "true"}, {"kubernetes.io/config.mirror", "0123"}});
  pod["spec"]["nodeName"] = "node-1";
  pod["spec"]["containers"][0]["resources"] = {{"limits", {{"crossover.dev/slot", "1"}}}};
  json review = Review("CREATE", pod);
  review["request"]["userInfo"]["username"] = "ann";
  EXPECT_EQ(Response(review)["allowed"], false) << "the control: a user may not set the annotation";
  review["request"]["userInfo"]["username"] = "system:node:node-1";
  const json response = Response(review);
  EXPECT_EQ(response["allowed"], true);
  EXPECT_FALSE(response.contains("patch"));
  ASSERT_EQ(response["warnings"].size(), 1u);
  EXPECT_EQ(response["warnings"][0],
            "the pod is static: no scheduler places it, and Crossover does not rewrite it: expected a pod of "
            "the API server");
}

TEST(ProtectTest, TheModeIsASwitchAndAllElseStays) {
  const auto refusal = [](const json& before, const json& after) {
    return RefusalOfChange(MadePod(before), MadePod(after), "ann", {"extender"}).value_or("");
  };
  const json pod = {{"crossover.dev/share", "true"}, {"crossover.dev/mode", "off"}};
  EXPECT_EQ(refusal(pod, pod), "");
  EXPECT_EQ(refusal(pod, {{"crossover.dev/share", "true"}, {"crossover.dev/mode", "observe"}}), "");
  EXPECT_EQ(refusal(pod, {{"crossover.dev/share", "true"}, {"other.dev/a", "b"}}), "");
  EXPECT_EQ(refusal(pod, {{"crossover.dev/share", "true"}, {"crossover.dev/mode", "on"}}),
            "crossover.dev/mode: expected enforce, observe or off, got on");
  EXPECT_EQ(
      refusal(pod, json::object()),
      "crossover.dev/share: ann may not change it: after a pod is made, crossover.dev/mode alone may change");
  EXPECT_NE(refusal(pod, {{"crossover.dev/share", "exclusive"}, {"crossover.dev/mode", "off"}}), "");
  EXPECT_NE(refusal(json::object(), {{"crossover.dev/status-x", "1"}}), "");
  json labelled = MadePod(json::object());
  labelled["metadata"]["labels"] = {{"crossover.dev/managed", "true"}};
  EXPECT_TRUE(RefusalOfChange(labelled, MadePod(json::object()), "ann", {}));
  EXPECT_TRUE(RefusalOfChange(MadePod(json::object()), labelled, "ann", {}));
}

}  // namespace
}  // namespace crossover::extender::admission
