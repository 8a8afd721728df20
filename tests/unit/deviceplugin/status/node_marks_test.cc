#include "deviceplugin/status/node_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/foreign_keys.h"
#include "tests/unit/common/kube/server.h"

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const NodeMarksWanted kLabels{.operator_labels = true};
const NodeMarksWanted kAnnotation{.scale_down_disabled = true};

NodeMarks Labelled() {
  return {
      .labels = {{base::kOperatorPluginLabel, "false"}, {base::kOperatorValidatorLabel, "false"}, {"x", "y"}},
      .scale_down = {},
      .slots_held = false};
}

TEST(NodeMarksTest, NothingIsWrittenUnasked) {
  EXPECT_TRUE(ChangeOf({.labels = {}, .scale_down = "false", .slots_held = true}, {}).empty());
}

TEST(NodeMarksTest, TheLabelsOfTheOperatorAreSetWhereTheyAreNot) {
  NodeMarks now = Labelled();
  EXPECT_TRUE(ChangeOf(now, kLabels).empty());
  now.labels[base::kOperatorPluginLabel] = "true";
  EXPECT_EQ(json::parse(PatchOf(ChangeOf(now, kLabels))),
            json::parse(R"({"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": "false"}}})"));
  now.labels.clear();
  EXPECT_EQ(ChangeOf(now, kLabels).labels.size(), 2u);
}

TEST(NodeMarksTest, TheAnnotationIsThereWhileSlotsAreHeld) {
  NodeMarks now{.labels = {}, .scale_down = {}, .slots_held = false};
  EXPECT_TRUE(ChangeOf(now, kAnnotation).empty());
  now.slots_held = true;
  EXPECT_EQ(json::parse(PatchOf(ChangeOf(now, kAnnotation))), json::parse(R"({"metadata": {"annotations":
                {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}})"));
  now.scale_down = "true";
  EXPECT_TRUE(ChangeOf(now, kAnnotation).empty());
  now.slots_held = false;
  EXPECT_EQ(json::parse(PatchOf(ChangeOf(now, kAnnotation))), json::parse(R"({"metadata": {"annotations":
                {"cluster-autoscaler.kubernetes.io/scale-down-disabled": null}}})"));
}

TEST(InsistenceTest, FiveTimesAnHour) {
  Insistence insistence;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(insistence.Once(i));
  EXPECT_FALSE(insistence.Once(5));
  EXPECT_FALSE(insistence.Once(Insistence::kWithin));
  EXPECT_TRUE(insistence.Once(Insistence::kWithin + 1)) << "the first one is an hour ago";
  EXPECT_FALSE(insistence.Once(Insistence::kWithin + 1));
}

TEST(NodeMarkerTest, ItWritesItsNode) {
  kube::Server server;
  server.Answer(200, "{}");
  const NodeMarker marker(
      {.server = server.url(), .ca_file = "", .token_file = ""}, "n1", kLabels, [] { return NodeMarks(); },
      [](bool) {});
  const std::string request = server.AwaitRequest(0);
  EXPECT_THAT(request, HasSubstr("PATCH /api/v1/nodes/n1 HTTP"));
  EXPECT_THAT(request, HasSubstr("application/merge-patch+json"));
}

// A Told keeps what the marker tells first. It may tell the same again at its next look.
class Told {
 public:
  void operator()(bool again) {
    std::call_once(once_, [&] { first_.set_value(again); });
  }
  bool Await() { return first_.get_future().get(); }

 private:
  std::once_flag once_;
  std::promise<bool> first_;
};

TEST(NodeMarkerTest, WhatAnotherProgramTakesBackIsToldAndWrittenAgain) {
  kube::Server server;
  Told told;
  std::atomic<int> looks{0};
  server.Answer(200, "{}");
  const NodeMarker marker(
      {.server = server.url(), .ca_file = "", .token_file = ""}, "n1", kLabels,
      [&looks]() -> std::optional<NodeMarks> { return looks++ == 0 ? Labelled() : NodeMarks(); },
      [&told](bool again) { told(again); }, std::chrono::milliseconds(1));
  EXPECT_TRUE(told.Await()) << "they are set again";
  EXPECT_THAT(server.AwaitRequest(0), HasSubstr("gpu.deploy.device-plugin"));
}

TEST(NodeMarkerTest, WhatIsTakenBackBeforeTheNextLookIsToldToo) {
  kube::Server server;
  Told told;
  server.Answer(200, "{}");
  const NodeMarker marker(
      {.server = server.url(), .ca_file = "", .token_file = ""}, "n1", kLabels, [] { return NodeMarks(); },
      [&told](bool again) { told(again); }, std::chrono::milliseconds(1));
  EXPECT_TRUE(told.Await());
}

TEST(NodeMarkerTest, AServerThatRefusesIsToldInTheLog) {
  kube::Server server;
  std::atomic<int> looks{0};
  server.Answer(403, "no");
  testing::internal::CaptureStderr();
  {
    const NodeMarker marker(
        {.server = server.url(), .ca_file = "", .token_file = ""}, "n1", kLabels,
        [&looks]() -> std::optional<NodeMarks> {
          return looks++ == 0 ? std::optional(NodeMarks()) : std::nullopt;
        },
        [](bool) {}, std::chrono::milliseconds(1));
    while (looks < 2) std::this_thread::yield();  // the first round is over
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("labels and annotations of this node cannot be written: "));
}

TEST(NodeMarkerTest, WhereNothingIsWantedItDoesNotLook) {
  kube::Server server;
  std::atomic<int> looks{0};
  {
    const NodeMarker marker(
        {.server = server.url(), .ca_file = "", .token_file = ""}, "n1", {},
        [&looks] {
          ++looks;
          return std::optional<NodeMarks>();
        },
        [](bool) {});
  }
  EXPECT_EQ(looks, 0);
}

}  // namespace
}  // namespace crossover::deviceplugin
