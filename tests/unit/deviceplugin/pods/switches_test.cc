#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "deviceplugin/switches/limits.h"
#include "deviceplugin/switches/namespaces.h"
#include "deviceplugin/switches/own_node.h"

namespace crossover::deviceplugin {
namespace {

using arbiter::Policy;
using nlohmann::json;

json Object(const std::string& name, const json& annotations, const json& labels = json::object()) {
  return {{"metadata", {{"name", name}, {"uid", "u"}, {"annotations", annotations}, {"labels", labels}}}};
}

TEST(ModesTest, WhatIsNotAllowedIsNamed) {
  EXPECT_EQ(FaultIn({{"crossover.dev/mode", "off"}, {"crossover.dev/maintenance", "true"}}), "");
  EXPECT_EQ(FaultIn({{"crossover.dev/mode", "Off"}}),
            "crossover.dev/mode: Off is not allowed: enforce, observe or off");
  EXPECT_EQ(FaultIn({{"crossover.dev/maintenance", "yes"}}),
            "crossover.dev/maintenance: yes is not allowed: true or false");
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
  node.OnList(json::array({object}));
  EXPECT_EQ(node.wishes(), (OwnNode::Wishes{Policy::kOff, true, "big"}));
  EXPECT_EQ(node.uid(), "u");
  EXPECT_EQ(node.allocatable().at("nvidia.com/gpu"), "2");
  node.OnChange(object);
  EXPECT_EQ(changes, 1);
  node.OnChange(Object("n", json::object()));
  EXPECT_EQ(node.wishes(), OwnNode::Wishes());
  EXPECT_EQ(changes, 2);
}

TEST(LimitsTest, TheStrictestHoldsAndIsNamed) {
  EXPECT_EQ(LimitsOf({}, Policy::kEnforce, "system"), TurnLimits());
  EXPECT_EQ(LimitsOf({.mode = Policy::kObserve, .configuration = ""}, Policy::kOff, "system").by,
            "crossover.dev/mode of namespace system, which holds for the whole cluster, is off");
  EXPECT_EQ(LimitsOf({.mode = Policy::kObserve, .configuration = ""}, Policy::kEnforce, "system").by,
            "crossover.dev/mode of this node is observe");
  EXPECT_EQ(
      LimitsOf({.mode = Policy::kObserve, .maintenance = true, .configuration = ""}, Policy::kEnforce, "s")
          .policy,
      Policy::kOff);
}

}  // namespace
}  // namespace crossover::deviceplugin
