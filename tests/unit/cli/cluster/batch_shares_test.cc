#include "cli/cluster/batch_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/cluster/explain.h"
#include "tests/unit/cli/cluster/sound_cluster.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// The gang team/a has a rank on each of two nodes.
class SharesOfAGang : public ::testing::Test {
 protected:
  SharesOfAGang() {
    ClusterFacts facts = SoundCluster();
    nodes_ = facts.lists["gpu_nodes"];
    nodes_[1]["status"]["gpus"][0]["holders"] = json::array({HolderOf("a-1", "team/a", "GPU-2::0")});
    pods_ = json::array({facts.lists["pods"][0], Pod("a-1", "n2")});
    for (std::size_t i = 0; i < 2; ++i) {
      pods_[i]["metadata"]["annotations"]["crossover.dev/batch-shares"] = "true";
      nodes_[i]["status"]["jobs"] = json::array({{{"namespace", "team"}, {"gang", "team/a"}}});
      nodes_[i]["status"]["jobs"][0]["ranks"] = json::array({{{"pod", "a-" + std::to_string(i)},
                                                              {"gpu", "GPU-1"},
                                                              {"rank", 1 - i},
                                                              {"computeSeconds", i == 0 ? 0.04 : 0.02}}});
    }
    Weigh("500 1000");
  }

  void Weigh(const char* weights) {
    for (json& pod : pods_) pod["metadata"]["annotations"]["crossover.dev/status-batch-shares"] = weights;
  }
  json Explain() {
    json explanation = ExplainPods(pods_, json::array(), nodes_);
    ExplainShares(pods_, nodes_, &explanation);
    return explanation;
  }
  std::string Text() { return ExplanationText(Explain()); }

  json nodes_, pods_;
};

TEST_F(SharesOfAGang, AreItsWeightsAndWhatEachRankTakes) {
  nodes_[0]["status"]["jobs"][0]["ranks"][0]["waitSeconds"] = 0.0123;
  EXPECT_THAT(Text(), EndsWith("  parts of the batch: weights 500 1000\n"
                               "  rank 0: compute 20.0 ms\n"
                               "  rank 1: compute 40.0 ms, waits 12.3 ms for its turn\n"));
  EXPECT_EQ(Explain()["shares"]["team/a"]["ranks"][1]["waitSeconds"], 0.0123);
}

TEST_F(SharesOfAGang, BeforeTheFirstDecisionThereAreNoWeights) {
  Weigh("");
  EXPECT_THAT(Text(), HasSubstr("parts of the batch: equal, as no weights are written yet\n"));
}

TEST_F(SharesOfAGang, WhilePodsDifferNoWeightsAreNamed) {
  pods_[1]["metadata"]["annotations"]["crossover.dev/status-batch-shares"] = "1000 1000";
  EXPECT_THAT(Text(), HasSubstr("the pods of the gang do not all have the same weights yet\n"));
}

TEST_F(SharesOfAGang, AnotherGangAsksForNone) {
  for (json& pod : pods_) pod["metadata"]["annotations"].erase("crossover.dev/batch-shares");
  EXPECT_FALSE(Explain().contains("shares"));
  EXPECT_THAT(Text(), Not(HasSubstr("parts of the batch")));
}

TEST_F(SharesOfAGang, WhatNodesReportMayBeAnything) {
  json& ranks = nodes_[0]["status"]["jobs"][0]["ranks"];
  ranks = json::array({7, {{"pod", "a-0"}, {"rank", "one"}}, {{"pod", "a-0"}, {"rank", 1}}, {{"pod", 3}}});
  nodes_[1]["status"]["jobs"] = "none";
  EXPECT_THAT(Text(), EndsWith("weights 500 1000\n  rank 1: not known\n"));
}

}  // namespace
}  // namespace crossover::cli
