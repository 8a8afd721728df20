#include "cli/cluster/balance_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns a node with ranks of one gang that compute for these times. The step has `away` beside its longest
// rank, which takes `longest`.
json NodeWith(const std::vector<double>& computes, double longest, double away, const char* gang = "team/a",
              int size = 4) {
  json ranks = json::array();
  double sum = 0;
  for (const double compute : computes) {
    ranks.push_back({{"pod", "a-0"}, {"gpu", "GPU-1"}, {"computeSeconds", compute}});
    sum += compute;
  }
  const double mean = sum / static_cast<double>(computes.size());
  const json job = {{"namespace", "team"},
                    {"gang", gang},
                    {"gangSize", size},
                    {"measuredAt", "2027-01-15T08:00:00Z"},
                    {"computeSeconds", mean},
                    {"ranks", ranks},
                    {"exposedSeconds", longest + away - mean}};
  return {{"metadata", {{"name", "n"}}}, {"status", {{"jobs", json::array({job})}}}};
}

json TwoNodes() {
  return json::array({NodeWith({0.02, 0.02}, 0.08, 0.01), NodeWith({0.04, 0.08}, 0.08, 0.01)});
}

TEST(BalanceAdviceTest, SaysWhatPartsBySpeedWouldGain) {
  const json advice = BalanceAdvice(TwoNodes(), "");
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0]["ranks"], 4);
  EXPECT_DOUBLE_EQ(advice[0]["shortestSeconds"], 0.02);
  EXPECT_DOUBLE_EQ(advice[0]["longestSeconds"], 0.08);
  EXPECT_NEAR(advice[0]["stepSeconds"], 0.09, 1e-12);
  EXPECT_NEAR(advice[0]["gain"], 0.09 / (0.08 / 2.75 + 0.01), 1e-9);
  EXPECT_EQ(
      BalanceText(advice, false),
      "team/a: its 4 ranks spend 20.0 to 80.0 ms on compute and on waits for their turn, of a step of 90.0 "
      "ms. With parts of the batch by their speed (crossover.dev/batch-shares) a step is 2.30 times as "
      "fast.\n");
}

TEST(BalanceAdviceTest, AWaitForATurnCountsAsTimeOfARank) {
  json nodes = json::array({NodeWith({0.02, 0.02}, 0.02, 0, "team/a", 2)});
  nodes[0]["status"]["jobs"][0]["ranks"][0]["waitSeconds"] = 0.02;
  const json advice = BalanceAdvice(nodes, "");
  EXPECT_DOUBLE_EQ(advice[0]["longestSeconds"], 0.04);
  EXPECT_DOUBLE_EQ(advice[0]["gain"], 0.04 / 0.03);
}

TEST(BalanceAdviceTest, StagesOfAPipelineHaveNoPartsOfABatch) {
  json nodes = TwoNodes();
  nodes[1]["status"]["jobs"][0]["communication"] = json::array({json::parse(
      R"({"pod": "a-0", "communicator": "00000000000000aa", "size": 4, "rank": 0, "function": "Send", "peer": 1,
          "bytes": 8})")});
  const json advice = BalanceAdvice(nodes, "");
  EXPECT_THAT(advice[0]["why"].get<std::string>(), HasSubstr("send to single other ranks"));
  EXPECT_FALSE(advice[0].contains("gain"));
  nodes[1]["status"]["jobs"][0]["communication"][0]["function"] = "AllReduce";
  EXPECT_TRUE(BalanceAdvice(nodes, "")[0].contains("gain"));
}

TEST(BalanceAdviceTest, EqualRanksNeedNoAdvice) {
  const json advice = BalanceAdvice(json::array({NodeWith({0.02, 0.0205, 0.02, 0.02}, 0.0205, 0.01)}), "");
  EXPECT_NEAR(advice[0]["gain"], 1.01, 0.005);
  EXPECT_EQ(BalanceText(advice, true), "");
}

TEST(BalanceAdviceTest, WithoutAllRanksItSaysSo) {
  const json advice = BalanceAdvice(json::array({TwoNodes()[0]}), "");
  EXPECT_FALSE(advice[0].contains("gain"));
  EXPECT_EQ(BalanceText(advice, false), "");
  EXPECT_EQ(
      BalanceText(advice, true),
      "team/a: no gain is told, as its nodes report 2 of 4 ranks, expected all (a node reports up to 16 of a "
      "job, and only those that it has measured)\n");
}

TEST(BalanceAdviceTest, AnEarlierRunAndOtherNamespacesAreLeftOut) {
  json nodes = TwoNodes();
  EXPECT_THAT(BalanceAdvice(nodes, "other"), IsEmpty());
  EXPECT_EQ(BalanceAdvice(nodes, "team").size(), 1u);
  json earlier = NodeWith({0.5, 0.5, 0.5, 0.5}, 0.5, 0)["status"]["jobs"][0];
  earlier["ended"] = true;
  nodes[0]["status"]["jobs"].push_back(earlier);
  EXPECT_EQ(BalanceAdvice(nodes, ""), BalanceAdvice(TwoNodes(), ""));
  EXPECT_THAT(BalanceAdvice(json::array({NodeWith({0.02}, 0.02, 0, "team/one", 1)}), ""), IsEmpty());
}

TEST(BalanceAdviceTest, TheCostliestComesFirst) {
  json nodes = TwoNodes();
  nodes.push_back(NodeWith({0.02, 0.3}, 0.3, 0, "team/worse", 2));
  nodes.push_back(NodeWith({0.02}, 0.3, 0, "team/unknown", 2));
  nodes.push_back(NodeWith({0.02, 0.3}, 0.3, 0.3, "team/a-bit", 2));
  std::vector<std::string> names;
  for (const json& gang : BalanceAdvice(nodes, "")) names.push_back(gang["gang"]);
  EXPECT_THAT(names, testing::ElementsAre("team/worse", "team/a", "team/a-bit", "team/unknown"));
}

TEST(BalanceAdviceTest, GpuNodesMayContainAnything) {
  const json nodes =
      json::parse(R"([7, {"status": {"jobs": [3, {"gang": 3, "ranks": [1, {"computeSeconds": "x"}]},
      {"gang": "g", "gangSize": -3, "ranks": [{"computeSeconds": -1}]},
      {"gang": "h", "gangSize": 1e30, "ranks": [{"computeSeconds": 0.1}]}]}}])");
  EXPECT_EQ(BalanceText(BalanceAdvice(nodes, ""), false), "");
}

}  // namespace
}  // namespace crossover::cli
