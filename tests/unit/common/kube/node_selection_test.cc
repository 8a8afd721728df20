#include "common/kube/node_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace crossover::kube {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const Labels kLabels = {{"zone", "a"}, {"gpus", "8"}, {"empty", ""}};

std::string Why(const NodeSelection& selection) { return WhyNotSelected(selection, "n1", kLabels); }

json Required(const json& terms) {
  return {{"affinity",
           {{"nodeAffinity",
             {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", terms}}}}}}}};
}

TEST(NodeSelectionTest, IsRead) {
  const NodeSelection selection = NodeSelectionOf(json::parse(R"({"nodeSelector":{"zone":"a"},
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[{"key":"gpu","operator":"In","values":["a100","h100"]}],
       "matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n9"]}]},
      {}]}}}})"));
  EXPECT_THAT(selection.selector, ElementsAre(Pair("zone", "a")));
  ASSERT_EQ(selection.affinity.size(), 2u);
  EXPECT_THAT(
      selection.affinity[0],
      ElementsAre(Requirement{.key = "gpu", .op = "In", .values = {"a100", "h100"}},
                  Requirement{.key = "metadata.name", .op = "NotIn", .values = {"n9"}, .of_field = true}));
  EXPECT_THAT(selection.affinity[1], IsEmpty());
}

TEST(NodeSelectionTest, TermsThatAreNoneHoldNowhere) {
  EXPECT_THAT(NodeSelectionOf(json::object()).affinity, IsEmpty());
  EXPECT_THAT(NodeSelectionOf(Required(json::array())).affinity, ElementsAre(IsEmpty()));
  EXPECT_THAT(NodeSelectionOf(Required(json())).affinity, ElementsAre(IsEmpty()));
}

TEST(NodeSelectionTest, ObjectsMayBeAnything) {
  for (const json& junk : {json(7), json("x"), json::array({1, json::array()}), json()}) {
    Why(NodeSelectionOf(junk));
    Why(NodeSelectionOf({{"nodeSelector", junk}, {"affinity", junk}}));
    Why(NodeSelectionOf(Required(junk)));
    Why(NodeSelectionOf(Required(json::array({junk, {{"matchExpressions", junk}}}))));
  }
}

TEST(NodeSelectionTest, ANodeHasAllThatTheSelectorNames) {
  EXPECT_EQ(Why({}), "");
  EXPECT_EQ(Why({.selector = {{"zone", "a"}, {"empty", ""}}, .affinity = {}}), "");
  EXPECT_EQ(Why({.selector = {{"zone", "b"}}, .affinity = {}}),
            "the node does not have the label zone=b of the pod's nodeSelector");
  EXPECT_NE(Why({.selector = {{"zone", "a"}, {"disk", "fast"}}, .affinity = {}}), "");
}

TEST(NodeSelectionTest, OneTermOfTheAffinityIsEnough) {
  const Requirement in_a{.key = "zone", .op = "In", .values = {"a", "c"}};
  const Requirement has_disk{.key = "disk", .op = "Exists", .values = {}};
  const Requirement in_b{.key = "zone", .op = "In", .values = {"b", "c"}};
  EXPECT_EQ(Why({.selector = {}, .affinity = {{in_a, has_disk}}}),
            "the pod's node affinity is not met: disk Exists");
  EXPECT_EQ(Why({.selector = {}, .affinity = {{in_b}}}),
            "the pod's node affinity is not met: zone In [b, c]");
  EXPECT_EQ(Why({.selector = {}, .affinity = {{has_disk}, {in_a}}}), "");
  EXPECT_EQ(Why({.selector = {}, .affinity = {{}, {has_disk}}}), "the pod's node affinity is not met")
      << "a term without requirements holds nowhere";
  EXPECT_NE(Why({.selector = {{"zone", "b"}}, .affinity = {{in_a}}}), "") << "both count";
}

TEST(RequirementTest, AllOperators) {
  const auto holds = [&](const char* key, const char* op, std::vector<std::string> values) {
    return Holds({.key = key, .op = op, .values = std::move(values)}, "n1", kLabels);
  };
  EXPECT_TRUE(holds("zone", "In", {"b", "a"}));
  EXPECT_FALSE(holds("zone", "In", {"b"}));
  EXPECT_FALSE(holds("none", "In", {""}));
  EXPECT_TRUE(holds("zone", "NotIn", {"b"}));
  EXPECT_FALSE(holds("zone", "NotIn", {"a", "b"}));
  EXPECT_TRUE(holds("none", "NotIn", {"a"}));
  EXPECT_TRUE(holds("empty", "Exists", {}));
  EXPECT_FALSE(holds("none", "Exists", {}));
  EXPECT_TRUE(holds("none", "DoesNotExist", {}));
  EXPECT_FALSE(holds("empty", "DoesNotExist", {}));
  EXPECT_TRUE(holds("gpus", "Gt", {"7"}));
  EXPECT_FALSE(holds("gpus", "Gt", {"8"}));
  EXPECT_TRUE(holds("gpus", "Lt", {"+10"}));
  EXPECT_FALSE(holds("gpus", "Lt", {"8"}));
  EXPECT_FALSE(holds("none", "Lt", {"8"}));
  EXPECT_FALSE(holds("zone", "Gt", {"1"})) << "no number";
  EXPECT_FALSE(holds("gpus", "Gt", {"1", "2"}));
  EXPECT_FALSE(holds("gpus", "Gt", {}));
  EXPECT_FALSE(holds("gpus", "Lt", {"99999999999999999999"}));
  EXPECT_FALSE(holds("zone", "Like", {"a"}));
}

TEST(RequirementTest, TheNameIsAField) {
  const auto holds = [&](const char* key, const char* op, std::vector<std::string> values) {
    return Holds({.key = key, .op = op, .values = std::move(values), .of_field = true}, "n1",
                 {{"metadata.name", "n2"}});
  };
  EXPECT_TRUE(holds("metadata.name", "In", {"n1"}));
  EXPECT_FALSE(holds("metadata.name", "In", {"n2"}));
  EXPECT_FALSE(holds("metadata.name", "In", {"n1", "n2"}));
  EXPECT_TRUE(holds("metadata.name", "NotIn", {"n2"}));
  EXPECT_FALSE(holds("metadata.name", "NotIn", {"n1"}));
  EXPECT_FALSE(holds("metadata.name", "Exists", {}));
  EXPECT_FALSE(holds("metadata.uid", "NotIn", {"x"}));
}

}  // namespace
}  // namespace crossover::kube
