#include "extender/gang/removal.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::extender {
namespace {

class RemovalTest : public ::testing::Test {
 protected:
  RemovalTest() {
    for (const char* name : {"a", "b", "c"}) {
      Pod& pod = pods_.emplace_back();
      pod.uid = pod.name = name;
      pod.name_space = "team";
      pod.labels = {{"app", "train"}};
      pod.node = "n0";
      pod.running = true;
    }
  }
  void Put(const std::string& name, const char* selector, int allowed, const std::string& space = "team") {
    cache_.Put(Budget{.name_space = space,
                      .name = name,
                      .selector = kube::LabelSelectorOf(nlohmann::json::parse(selector)),
                      .allowed = allowed});
  }
  std::string Why() const {
    std::vector<const Pod*> pods;
    for (const Pod& pod : pods_) pods.push_back(&pod);
    return WhyForbidden(cache_, pods);
  }

  ClusterCache cache_;
  std::vector<Pod> pods_;
};

constexpr char kTrain[] = R"({"matchLabels": {"app": "train"}})";

TEST_F(RemovalTest, WithoutABudgetAllMayGo) { EXPECT_EQ(Why(), ""); }

TEST_F(RemovalTest, ABudgetHasToAllowAllOfThemAtOnce) {
  Put("b", kTrain, 2);
  EXPECT_EQ(Why(),
            "the disruption budget team/b: expected that it allows the eviction of 3 pods, got 2 pods");
  Put("b", kTrain, 3);
  EXPECT_EQ(Why(), "");
  Put("b", kTrain, 0);
  pods_.resize(1);
  EXPECT_EQ(Why(), "the disruption budget team/b: expected that it allows the eviction of 1 pod, got 0 pods");
}

TEST_F(RemovalTest, BudgetsOfOthersSayNothing) {
  Put("b", kTrain, 0, "other");
  Put("c", R"({"matchLabels": {"app": "web"}})", 0);
  Put("d", "null", 0);
  EXPECT_EQ(Why(), "");
}

TEST_F(RemovalTest, PodsThatDoNotRunAreNotCounted) {
  Put("b", "{}", 1);
  pods_[0].running = false;
  pods_[1].deleting = true;
  EXPECT_EQ(Why(), "");
  pods_[0].node.clear();
  EXPECT_NE(Why(), "") << "the watch does not show yet that it is bound";
}

// The API server refuses to evict such a pod.
TEST_F(RemovalTest, TwoBudgetsForOnePodForbidItsEviction) {
  Put("b", "{}", 9);
  Put("c", kTrain, 9);
  EXPECT_EQ(Why(),
            "the disruption budgets of pod a: expected one, which is all that evictions support, got team/b, "
            "team/c");
}

}  // namespace
}  // namespace crossover::extender
