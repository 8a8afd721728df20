#include "cli/cluster/shrink_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/cluster/explain.h"
#include "common/api/gpu_node.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kQ8Ratio = 32 / 8.125;

api::GpuNode::Job JobNamed(const char* gang, double compute_s, double exposed_s) {
  return {.name_space = "team",
          .gang = gang,
          .key = gang,
          .gpus = 1,
          .compute_s = compute_s,
          .exposed_s = exposed_s,
          .began_s = 1.8e9,
          .at_s = 1.8e9};
}

// Returns a node with one GPU that all of the jobs have.
api::GpuNode NodeWith(const char* name, const std::vector<api::GpuNode::Job>& jobs,
                      const char* model = "a model") {
  api::GpuNode node{.name = name, .jobs = jobs};
  node.gpus.push_back({.uuid = std::string("GPU-") + name, .model = model, .slots = 4, .healthy = true});
  for (const api::GpuNode::Job& job : jobs)
    node.gpus[0].holders.push_back({job.name_space, job.gang + "-pod", "main", {job.gang}, job.gang});
  return node;
}

json Written(const std::vector<api::GpuNode>& nodes) {
  json written = json::array();
  for (const api::GpuNode& node : nodes) written.push_back(api::WriteGpuNode(node));
  return written;
}

// Returns two nodes that have both jobs.
std::vector<api::GpuNode> TwoJobs(const api::GpuNode::Job& a, const api::GpuNode::Job& b,
                                  const char* model = "a model") {
  return {NodeWith("n1", {a, b}, model), NodeWith("n2", {a, b}, model)};
}

json Advised(const std::vector<api::GpuNode>& nodes, const char* gang = "team/a",
             const json& profiles = json::array()) {
  for (const json& entry : ShrinkAdvice(Written(nodes), profiles, "")) {
    if (entry["gang"] == gang) return entry;
  }
  return {};
}

TEST(ShrinkAdviceTest, TheWeakestLevelThatIsEnoughIsNamed) {
  const auto nodes = TwoJobs(JobNamed("team/a", 0.01, 0.015), JobNamed("team/b", 0.01, 0.015));
  const json gang = Advised(nodes);
  EXPECT_EQ(gang["level"], "bf16");
  EXPECT_EQ(gang["beside"], json::array({"team/b"}));
  EXPECT_DOUBLE_EQ(gang["stepSeconds"], 0.025);
  EXPECT_DOUBLE_EQ(gang["bf16Seconds"], 0.02);
  EXPECT_DOUBLE_EQ(gang["q8Seconds"], 0.02);
  EXPECT_DOUBLE_EQ(gang["gain"], 1.25);
  EXPECT_EQ(ShrinkText(json::array({gang}), false),
            "team/a: beside team/b a step takes 25.0 ms, and 20.0 ms with bf16, 1.25 times as fast, if its "
            "all-reduces are of float32; 20.0 ms with q8. The time of the codec is left out: the memory "
            "bandwidth of "
            "a model is not known.\n");
  EXPECT_THAT(ShrinkLine(gang), HasSubstr("  compressed reductions: beside team/b a step takes 25.0 ms"));
}

TEST(ShrinkAdviceTest, ALongWaitNeedsEightBits) {
  const json gang = Advised(TwoJobs(JobNamed("team/a", 0.01, 0.06), JobNamed("team/b", 0.01, 0.06)));
  EXPECT_EQ(gang["level"], "q8");
  EXPECT_NEAR(gang["gain"].get<double>(), 0.07 / (0.01 + 0.06 / kQ8Ratio), 1e-9);
  EXPECT_THAT(ShrinkText(json::array({gang}), false), HasSubstr("ms with q8, 2.77 times as fast"));
}

std::string WhyOf(const std::vector<api::GpuNode>& nodes) {
  const json gang = Advised(nodes);
  EXPECT_FALSE(gang.contains("level")) << gang;
  EXPECT_EQ(ShrinkText(json::array({gang}), false), "");
  EXPECT_THAT(ShrinkText(json::array({gang}), true), HasSubstr("team/a: none, as "));
  return gang["why"];
}

TEST(ShrinkAdviceTest, WhereSomethingElseIsBetterItSaysWhat) {
  const auto a = JobNamed("team/a", 0.01, 0.03), b = JobNamed("team/b", 0.03, 0.01);
  EXPECT_THAT(WhyOf({NodeWith("n1", {a, a})}), HasSubstr("on one node"));
  EXPECT_THAT(WhyOf({NodeWith("n1", {a}), NodeWith("n2", {a})}), HasSubstr("no other job is on its GPUs"));
  EXPECT_THAT(WhyOf(TwoJobs(a, b)), HasSubstr("what the other jobs compute hides its wait"));
  EXPECT_THAT(WhyOf(TwoJobs(JobNamed("team/a", 0.01, 0.009), JobNamed("team/b", 0.001, 0.009))),
              HasSubstr("no longer than its compute"));
}

TEST(ShrinkAdviceTest, WhatIsNotKnownIsSaid) {
  auto a = JobNamed("team/a", 0.01, 0.03), b = JobNamed("team/b", 0.01, 0.03);
  b.compute_s.reset();
  EXPECT_THAT(WhyOf(TwoJobs(a, b)), HasSubstr("expected computeSeconds and exposedSeconds of team/b"));
  a.exposed_s.reset();
  EXPECT_THAT(WhyOf(TwoJobs(a, b)), HasSubstr("expected computeSeconds and exposedSeconds of it"));
}

TEST(ShrinkAdviceTest, AWaitForInputIsNotShrunk) {
  auto a = JobNamed("team/a", 0.01, 0.04);
  a.ranks.push_back({.pod = "a-0", .compute_s = 0.01, .input_s = 0.02});
  const json gang = Advised(TwoJobs(a, JobNamed("team/b", 0.01, 0.04)));
  EXPECT_DOUBLE_EQ(gang["stepSeconds"], 0.05);
  EXPECT_DOUBLE_EQ(gang["bf16Seconds"], 0.01 + 0.02 + 0.01);
}

api::NcclCall CallOf(api::NcclFunction function, std::uint64_t bytes, int rank = 0) {
  return {.pod = "a-" + std::to_string(rank),
          .communicator = 7,
          .size = 2,
          .rank = rank,
          .function = function,
          .bytes = bytes};
}

TEST(ShrinkAdviceTest, OnlyAllReducesAreShrunk) {
  auto a = JobNamed("team/a", 0.01, 0.04);
  const auto b = JobNamed("team/b", 0.01, 0.04);
  a.communication = {CallOf(api::NcclFunction::kAllGather, 1000),
                     CallOf(api::NcclFunction::kReduceScatter, 1000, 1)};
  EXPECT_THAT(WhyOf(TwoJobs(a, b)), HasSubstr("no all-reduces"));
  a.communication = {CallOf(api::NcclFunction::kAllReduce, 1000),
                     CallOf(api::NcclFunction::kAllGather, 1000)};
  EXPECT_DOUBLE_EQ(Advised(TwoJobs(a, b))["bf16Seconds"], 0.01 + 0.02 + 0.01) << "half of what is sent";
}

TEST(ShrinkAdviceTest, TheCodecIsCountedWhereItsBytesAndTheGpuAreKnown) {
  auto a = JobNamed("team/a", 0.01, 0.015);
  const auto b = JobNamed("team/b", 0.01, 0.015);
  EXPECT_EQ(Advised(TwoJobs(a, b, "Tesla T4"))["codecLeftOut"], "the bytes of its calls are not known");
  a.communication = {CallOf(api::NcclFunction::kAllReduce, 100'000'000)};
  std::vector<api::GpuNode> nodes = TwoJobs(a, b, "Tesla T4");
  nodes[1].jobs[0].communication.clear();  // the pod is on the first node
  const json gang = Advised(nodes);
  EXPECT_DOUBLE_EQ(gang["codecSeconds"]["bf16"], 25e6 * 12 / 3.2e11);
  EXPECT_DOUBLE_EQ(gang["codecSeconds"]["q8"], 25e6 * 15 / 3.2e11);
  EXPECT_DOUBLE_EQ(gang["bf16Seconds"], 0.02 + 25e6 * 12 / 3.2e11);
  EXPECT_FALSE(gang.contains("codecLeftOut"));
  EXPECT_THAT(ShrinkText(json::array({gang}), false), Not(HasSubstr("left out")));
}

TEST(ShrinkAdviceTest, ASharedLinkCounts) {
  const auto a = JobNamed("team/a", 0.01, 0.009), b = JobNamed("team/b", 0.01, 0.009);
  std::vector<api::GpuNode> nodes = TwoJobs(a, b);
  nodes[0].link_bytes_per_s = 2e9;
  nodes[1].link_bytes_per_s = 1e9;  // the slowest one
  json profiles = json::array();
  for (const char* gang : {"team/a", "team/b"})
    profiles.push_back({{"metadata", {{"namespace", "team"}, {"name", std::string(gang).substr(5)}}},
                        {"spec", {{"key", gang}}},
                        {"status", {{"linkBytes", 18'000'000}}}});
  const json gang = Advised(nodes, "team/a", profiles);
  EXPECT_EQ(gang["level"], "q8");
  EXPECT_DOUBLE_EQ(gang["stepSeconds"], 0.036);
  EXPECT_DOUBLE_EQ(gang["bf16Seconds"], 0.027);
  EXPECT_FALSE(Advised(nodes, "team/a").contains("level")) << "without its bytes the link does not count";
}

TEST(ShrinkAdviceTest, OfSeveralGpusTheBusiestCounts) {
  auto a = JobNamed("team/a", 0.01, 0.03);
  const auto b = JobNamed("team/b", 0.002, 0.038), c = JobNamed("team/c", 0.02, 0.02);
  const std::vector<api::GpuNode> nodes = {NodeWith("n1", {a, b}), NodeWith("n2", {a, c})};
  const json gang = Advised(nodes);
  EXPECT_EQ(gang["beside"], json::array({"team/c"}));
  EXPECT_DOUBLE_EQ(gang["bf16Seconds"], 0.03);
}

TEST(ShrinkAdviceTest, EndedJobsAndOtherNamespacesAreLeftOut) {
  auto nodes = TwoJobs(JobNamed("team/a", 0.01, 0.015), JobNamed("team/b", 0.01, 0.015));
  EXPECT_THAT(ShrinkAdvice(Written(nodes), json::array(), "other"), IsEmpty());
  EXPECT_EQ(ShrinkAdvice(Written(nodes), json::array(), "team").size(), 2u);
  for (api::GpuNode& node : nodes) {
    for (api::GpuNode::Job& job : node.jobs) job.ended = true;
  }
  EXPECT_THAT(ShrinkAdvice(Written(nodes), json::array(), ""), IsEmpty());
}

TEST(ShrinkAdviceTest, TheLargestGainComesFirst) {
  auto nodes = TwoJobs(JobNamed("team/a", 0.01, 0.015), JobNamed("team/b", 0.01, 0.09));
  const json advice = ShrinkAdvice(Written(nodes), json::array(), "");
  EXPECT_EQ(advice[0]["gang"], "team/b");
}

TEST(ShrinkAdviceTest, AnExplanationHasItForGangsThatDoNotCompressYet) {
  const json nodes = Written(TwoJobs(JobNamed("team/a", 0.01, 0.015), JobNamed("team/b", 0.01, 0.015)));
  json explanation = json::object();
  explanation["pods"] = json::array({{{"pod", "team/a-0"}, {"gang", "team/a"}, {"shrink", "advise"}},
                                     {{"pod", "team/b-0"}, {"gang", "team/b"}, {"shrink", "bf16"}}});
  for (const char* level : {"bf16", "q8", "adaptive"}) {
    explanation["pods"][1]["shrink"] = level;
    explanation.erase("reductions");
    ExplainShrink(nodes, json::array(), &explanation);
    EXPECT_EQ(explanation["reductions"].size(), 1u) << level;
  }
  EXPECT_EQ(explanation["reductions"]["team/a"]["level"], "bf16");
  EXPECT_THAT(ExplanationText(explanation),
              HasSubstr("gang team/a\n  compressed reductions: beside team/b a step takes 25.0 ms"));
  EXPECT_EQ(ShrinkLine(json()), "");
}

TEST(ShrinkAdviceTest, ObjectsMayContainAnything) {
  const json nodes =
      json::parse(R"([7, {"metadata": {"name": "n"}, "status": {"gpus": [{"uuid": "g", "holders": [3,
      {"gang": "x"}]}], "jobs": [3, {"gang": 3}, {"namespace": "t", "gang": "x", "computeSeconds": -1,
      "measuredAt": "2027-01-15T08:00:00Z"}]}}])");
  EXPECT_EQ(ShrinkText(ShrinkAdvice(nodes, json::parse("[1, {}]"), ""), false), "");
}

}  // namespace
}  // namespace crossover::cli
