#include "common/kube/label_selector.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::kube {
namespace {

using nlohmann::json;

const Labels kLabels = {{"app", "train"}, {"tier", "gpu"}, {"empty", ""}};

bool Meets(const char* selector, const Labels& labels = kLabels) {
  return Matches(LabelSelectorOf(json::parse(selector)), labels);
}

TEST(LabelSelectorTest, NullMatchesNothingAndEmptyEverything) {
  EXPECT_FALSE(Meets("null"));
  EXPECT_TRUE(Meets("{}"));
  EXPECT_TRUE(Meets(R"({"matchLabels": {}, "matchExpressions": []})", {}));
  EXPECT_TRUE(Meets(R"({"matchLabels": null})"));
}

TEST(LabelSelectorTest, AllLabelsAndExpressionsMustHold) {
  EXPECT_TRUE(Meets(R"({"matchLabels": {"app": "train", "empty": ""}})"));
  EXPECT_FALSE(Meets(R"({"matchLabels": {"app": "train", "tier": "cpu"}})"));
  EXPECT_FALSE(Meets(R"({"matchLabels": {"other": ""}})"));
  EXPECT_TRUE(Meets(R"({"matchLabels": {"app": "train"},
    "matchExpressions": [{"key": "tier", "operator": "In", "values": ["cpu", "gpu"]}]})"));
  EXPECT_FALSE(Meets(R"({"matchLabels": {"app": "train"},
    "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gpu"]}]})"));
}

TEST(LabelSelectorTest, EachOperatorIsThatOfKubernetes) {
  const auto meets = [](const char* key, const char* op, const char* values) {
    const std::string text = std::string(R"({"matchExpressions": [{"key": ")") + key + R"(", "operator": ")" +
                             op + R"(", "values": )" + values + "}]}";
    return Meets(text.c_str());
  };
  EXPECT_TRUE(meets("app", "In", R"(["x", "train"])"));
  EXPECT_FALSE(meets("other", "In", R"(["x"])"));
  EXPECT_TRUE(meets("other", "NotIn", R"(["x"])")) << "a label that is missing is not in the list";
  EXPECT_TRUE(meets("app", "Exists", "[]"));
  EXPECT_FALSE(meets("other", "Exists", "null"));
  EXPECT_TRUE(meets("other", "DoesNotExist", "[]"));
  EXPECT_FALSE(meets("empty", "DoesNotExist", "[]"));
}

TEST(LabelSelectorTest, WhatKubernetesRefusesMatchesNothing) {
  for (const char* selector :
       {"3", "[]", R"("app")", R"({"matchLabels": []})", R"({"matchLabels": {"app": 3}})",
        R"({"matchExpressions": {}})", R"({"matchExpressions": [null]})",
        R"({"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]})",
        R"({"matchExpressions": [{"key": "app", "operator": "In", "values": []}]})",
        R"({"matchExpressions": [{"key": "app", "operator": "In"}]})",
        R"({"matchExpressions": [{"key": "app", "operator": "In", "values": "train"}]})",
        R"({"matchExpressions": [{"key": "app", "operator": "In", "values": [3]}]})",
        R"({"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["train"]}]})",
        R"({"matchExpressions": [{"operator": "Exists"}]})"})
    EXPECT_FALSE(Meets(selector)) << selector;
}

}  // namespace
}  // namespace crossover::kube
