#include "extender/cluster/parse_budget.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::extender {
namespace {

TEST(ParseBudgetTest, SaysHowManyPodsMayBeEvicted) {
  const auto parsed = [](const char* text) { return ParseBudget(nlohmann::json::parse(text)); };
  const auto budget = parsed(R"({"metadata": {"name": "b", "namespace": "team"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "train"}}},
    "status": {"disruptionsAllowed": 3, "currentHealthy": 5, "desiredHealthy": 2}})");
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->name_space + "/" + budget->name, "team/b");
  EXPECT_EQ(budget->allowed, 3);
  EXPECT_TRUE(kube::Matches(budget->selector, {{"app", "train"}}));
  EXPECT_FALSE(kube::Matches(budget->selector, {{"app", "web"}}));
  const auto young = parsed(R"({"metadata": {"name": "b", "namespace": "team"}})");
  ASSERT_TRUE(young);
  EXPECT_EQ(young->allowed, 0) << "its controller has not said anything yet";
  EXPECT_FALSE(kube::Matches(young->selector, {}));
  EXPECT_EQ(
      parsed(R"({"metadata": {"name": "b", "namespace": "team"}, "status": {"disruptionsAllowed": -1}})")
          ->allowed,
      0);
  for (const char* text :
       {"null", R"({"metadata": {"name": "b"}})", R"({"metadata": {"namespace": "team"}})"})
    EXPECT_FALSE(parsed(text)) << text;
}

}  // namespace
}  // namespace crossover::extender
