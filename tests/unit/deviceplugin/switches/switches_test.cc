#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "deviceplugin/pods/mistyped.h"
#include "deviceplugin/switches/limits.h"
#include "deviceplugin/switches/namespaces.h"
#include "deviceplugin/switches/own_node.h"

namespace crossover::deviceplugin {
namespace {

using arbiter::Policy;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

json Object(const std::string& name, const json& annotations, const json& labels = json::object()) {
  return {{"metadata", {{"name", name}, {"uid", "u"}, {"annotations", annotations}, {"labels", labels}}}};
}

TEST(ModesTest, WhatIsNotAllowedIsNamed) {
  EXPECT_THAT(FaultsIn({{"crossover.dev/mode", "off"}, {"crossover.dev/maintenance", "true"}}, {}),
              IsEmpty());
  EXPECT_THAT(FaultsIn({{"crossover.dev/mode", "Off"}, {"crossover.dev/maintenance", "yes"}}, {}),
              ElementsAre("crossover.dev/mode: expected enforce, observe or off, got Off",
                          "crossover.dev/maintenance: expected true or false, got yes"));
}

TEST(ModesTest, ASwitchThatIsALabelIsNamedWhateverItSays) {
  EXPECT_THAT(FaultsIn({}, {{"crossover.dev/mode", "off"}}),
              ElementsAre("crossover.dev/mode: expected an annotation, got a label with the value off"));
  EXPECT_THAT(FaultsIn({}, {{"crossover.dev/configuration", "big"}}), IsEmpty());
}

TEST(ModesTest, WhatAUserWroteIsCutAndPrintable) {
  EXPECT_THAT(FaultsIn({{"crossover.dev/mode", "a\nb" + std::string(5000, 'x')}}, {}),
              ElementsAre("crossover.dev/mode: expected enforce, observe or off, got a?b" +
                          std::string(57, 'x') + ".."));
}

TEST(ModesTest, OnlyOursCount) {
  EXPECT_EQ(
      OursOf(Object("x", {{"crossover.dev/mode", "off"}, {"other.dev/mode", "on"}}), "annotations").size(),
      1u);
  EXPECT_TRUE(OursOf(json(3), "annotations").empty());
}

TEST(NamespacesTest, ModesComeAndGo) {
  int changes = 0;
  Namespaces namespaces([&changes] { ++changes; });
  namespaces.OnList(json::array({Object("a", {{"crossover.dev/mode", "off"}}), Object("b", json::object())}));
  EXPECT_EQ(namespaces.ModeOf("a"), Policy::kOff);
  EXPECT_EQ(namespaces.ModeOf("b"), Policy::kEnforce);
  EXPECT_EQ(changes, 1);
  namespaces.OnChange(Object("b", {{"something/else", "x"}}));
  EXPECT_EQ(changes, 1) << "nothing of ours";
  namespaces.OnChange(Object("b", {{"crossover.dev/mode", "observe"}}));
  EXPECT_EQ(namespaces.ModeOf("b"), Policy::kObserve);
  namespaces.OnChange(Object("a", json::object()));
  EXPECT_EQ(namespaces.ModeOf("a"), Policy::kEnforce);
  namespaces.OnChange(Object("c", {{"crossover.dev/mode", "on"}}));
  EXPECT_EQ(namespaces.faults().at("c").size(), 1u);
  namespaces.OnDelete(Object("c", json::object()));
  EXPECT_THAT(namespaces.faults(), IsEmpty());
  namespaces.OnDelete(Object("b", json::object()));
  EXPECT_EQ(namespaces.ModeOf("b"), Policy::kEnforce);
  EXPECT_EQ(changes, 4);
}

TEST(OwnNodeTest, WishesOfItsAnnotationsAndLabels) {
  int changes = 0;
  OwnNode node([&changes] { ++changes; });
  json object = Object("n", {{"crossover.dev/mode", "off"}, {"crossover.dev/maintenance", "true"}},
                       {{"crossover.dev/configuration", "big"}});
  object["status"]["allocatable"] = {{"nvidia.com/gpu", "2"}};
  object["status"]["nodeInfo"] = {{"containerRuntimeVersion", "containerd://2.3.7"},
                                  {"osImage", "Bottlerocket OS 1.39.1"}};
  node.OnList(json::array({object}));
  EXPECT_EQ(node.spec(), (OwnNode::NodeSpec{Policy::kOff, true, "big"}));
  EXPECT_EQ(node.uid(), "u");
  EXPECT_EQ(node.allocatable().at("nvidia.com/gpu"), 2);
  EXPECT_EQ(node.runtime(), "containerd://2.3.7");
  EXPECT_EQ(node.os_image(), "Bottlerocket OS 1.39.1");
  EXPECT_EQ(node.labels().at("crossover.dev/configuration"), "big");
  EXPECT_EQ(node.scale_down(), std::nullopt);
  node.OnChange(object);
  EXPECT_EQ(changes, 1);
  node.OnChange(Object("n", {{"cluster-autoscaler.kubernetes.io/scale-down-disabled", "true"}}));
  EXPECT_EQ(node.scale_down(), "true");
  EXPECT_EQ(node.spec(), OwnNode::NodeSpec());
  EXPECT_EQ(changes, 2);
}

TEST(OwnNodeTest, FaultsComeAndGoWithoutBeingWishes) {
  int changes = 0;
  OwnNode node([&changes] { ++changes; });
  node.OnChange(Object("n", {{"crossover.dev/mode", "of"}}));
  EXPECT_EQ(node.faults().size(), 1u);
  node.OnChange(Object("n", json::object()));
  EXPECT_THAT(node.faults(), IsEmpty());
  EXPECT_EQ(changes, 0);
}

class MistypedTest : public ::testing::Test {
 protected:
  // Returns the events, each as "kind namespace/name: note".
  std::vector<std::string> Look() {
    std::vector<std::string> told;
    for (const kube::Event& event : mistyped_.Look(switches_)) {
      EXPECT_EQ(event.reason, "MistypedSwitch");
      EXPECT_TRUE(event.warning);
      EXPECT_EQ(event.once_in_cluster, event.regarding.kind == "Namespace") << "every node finds it";
      told.push_back(event.regarding.kind + " " + event.regarding.name_space + "/" + event.regarding.name +
                     ": " + event.note);
    }
    return told;
  }
  static Pod MadePod(const char* mode) {
    const json object = {{"metadata",
                          {{"name", "p"},
                           {"namespace", "team"},
                           {"uid", "u"},
                           {"annotations", {{"crossover.dev/mode", mode}}}}}};
    return PodOf(api::ParsePod(object).value());
  }
  Mistyped::Switches switches_{.pods = {}, .namespaces = {}, .node = "n", .of_node = {}};
  Mistyped mistyped_;
};

TEST_F(MistypedTest, EachIsToldOnceWhereItStands) {
  switches_.pods = {MadePod("Off")};
  switches_.of_node = {"a"};
  switches_.namespaces = {{"team", {"b"}}};
  EXPECT_THAT(Look(),
              ElementsAre("Namespace team/team: b; it counts as not set", "Node /n: a; it counts as not set",
                          "Pod team/p: crossover.dev/mode: expected enforce, observe or off, got Off; "
                          "it counts as not set"));
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_EQ(mistyped_.counts(),
            (std::map<std::string, std::uint64_t>{{"Namespace", 1}, {"Node", 1}, {"Pod", 1}}));
}

TEST_F(MistypedTest, AnotherValueIsToldAgainAndOneThatIsRightIsForgotten) {
  switches_.pods = {MadePod("Off")};
  Look();
  switches_.pods = {MadePod("OFF")};
  EXPECT_EQ(Look().size(), 1u);
  switches_.pods = {MadePod("off")};
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_EQ(mistyped_.counts().at("Pod"), 0u);
  switches_.pods = {MadePod("OFF")};
  EXPECT_EQ(Look().size(), 1u);
  switches_.pods[0].over = true;
  Look();
  EXPECT_EQ(mistyped_.counts().at("Pod"), 0u);
}

TEST(LimitsTest, TheStrictestHoldsAndIsNamed) {
  TurnLimits none;
  none.maintenance = false;
  EXPECT_EQ(LimitsOf({}, Policy::kEnforce, "system"), none);
  EXPECT_EQ(LimitsOf({.mode = Policy::kObserve, .configuration = ""}, Policy::kOff, "system").by,
            "crossover.dev/mode of namespace system, which holds for the whole cluster, is off");
  EXPECT_EQ(LimitsOf({.mode = Policy::kObserve, .configuration = ""}, Policy::kEnforce, "system").by,
            "crossover.dev/mode of this node is observe");
  EXPECT_EQ(
      LimitsOf({.mode = Policy::kObserve, .maintenance = true, .configuration = ""}, Policy::kEnforce, "s")
          .policy,
      Policy::kOff);
  EXPECT_EQ(LimitsOf({.mode = Policy::kOff, .maintenance = true, .configuration = ""}, Policy::kEnforce, "s")
                .maintenance,
            true);
}

}  // namespace
}  // namespace crossover::deviceplugin
