#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/api/gpu_node.h"

namespace crossover::api {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::SizeIs;

json NodeWith(const json& job) {
  return {
      {"metadata", {{"name", "n"}}},
      {"status",
       {{"jobs", json::array({job})}, {"gpus", json::array({{{"uuid", "GPU-0"}, {"model", "A100"}}, 7})}}}};
}

json Job() {
  return json::parse(R"({"namespace": "team", "gang": "team/a", "profileKey": "k", "gpus": 2, "gangSize": 4,
      "computeSeconds": 0.02, "exposedSeconds": 0.01, "stepAloneSeconds": 0.03, "jitter": 0.1,
      "peakMemoryBytes": 123456789012, "source": "estimated", "iterations": 500, "ended": true,
      "beganAt": "2023-11-14T22:13:20Z", "measuredAt": "2023-11-14T22:13:30Z", "disturbedAt": "2023-11-14T22:13:25Z",
      "ranks": [{"pod": "a-0", "gpu": "GPU-0", "rank": 3, "computeSeconds": 0.02, "waitSeconds": 0.004,
                 "inputSeconds": 0.003},
                {"pod": "a-2", "rank": -1, "computeSeconds": 0.03, "inputSeconds": -1},
                {"pod": "", "computeSeconds": 0.02}, {"pod": "a-1", "computeSeconds": 1e9}, 7],
      "meetings": [{"gain": 1.25, "measuredAt": "2023-11-14T22:13:29Z",
                    "beside": [{"namespace": "other", "gang": "other/b", "profileKey": "l"}]}]})");
}

TEST(ReportsTest, AllThatANodeSays) {
  const auto jobs = JobsOf(NodeWith(Job()));
  ASSERT_THAT(jobs, SizeIs(1));
  const GpuNode::Job& job = jobs[0];
  EXPECT_EQ(job.key, "k");
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.compute_s, 0.02);
  EXPECT_EQ(job.exposed_s, 0.01);
  EXPECT_EQ(job.step_alone_s, 0.03);
  EXPECT_EQ(job.peak_memory, 123456789012u);
  EXPECT_TRUE(job.estimated());
  EXPECT_EQ(job.began_s, 1.7e9);
  EXPECT_EQ(job.at_s, 1.7e9 + 10);
  EXPECT_EQ(job.disturbed_s, 1.7e9 + 5);
  EXPECT_TRUE(job.ended);
  EXPECT_EQ(job.node, "n");
  ASSERT_THAT(job.ranks, SizeIs(2)) << "the others cannot be";
  EXPECT_EQ(job.ranks[0].pod, "a-0");
  EXPECT_EQ(job.ranks[0].compute_s, 0.02);
  EXPECT_EQ(job.ranks[0].number, 3);
  EXPECT_EQ(job.ranks[0].wait_s, 0.004);
  EXPECT_EQ(job.ranks[0].input_s, 0.003);
  EXPECT_EQ(job.ranks[1].input_s, 0);
  EXPECT_EQ(job.ranks[0].model, "A100");
  EXPECT_EQ(job.ranks[1].model, "") << "its GPU is not told";
  EXPECT_EQ(job.ranks[1].number, -1) << "an older daemon names none";
  ASSERT_THAT(job.meetings, SizeIs(1));
  EXPECT_EQ(job.meetings[0].gain, 1.25);
  EXPECT_EQ(job.meetings[0].beside[0].key, "l");
}

TEST(ReportsTest, WhatCannotBeIsLeftOut) {
  for (const char* patch : {R"({"namespace": ""})", R"({"gang": 3})", R"({"measuredAt": "soon"})",
                            R"({"measuredAt": null})", R"({"beganAt": "2123-11-14T22:13:20Z"})"}) {
    json job = Job();
    job.merge_patch(json::parse(patch));
    EXPECT_THAT(JobsOf(NodeWith(job)), IsEmpty()) << patch;
  }
  for (const char* figure : {"-1", "1e99", "\"1\"", "[]", "null", "3601"}) {
    json job = Job();
    job["computeSeconds"] = json::parse(figure);
    EXPECT_EQ(JobsOf(NodeWith(job)).at(0).compute_s, std::nullopt) << figure;
  }
  json job = Job();
  job["meetings"][0]["gain"] = 1e6;
  EXPECT_THAT(JobsOf(NodeWith(job)).at(0).meetings, IsEmpty());
}

TEST(ReportsTest, NoMoreThanANodeHas) {
  json node = NodeWith(Job());
  for (int i = 0; i < 1000; ++i) node["status"]["jobs"].push_back(Job());
  EXPECT_THAT(JobsOf(node), SizeIs(kMostJobsOfNode));
  for (const char* text : {"null", "[]", R"({"status": 3})", R"({"status": {"jobs": {"a": 1}}})"})
    EXPECT_THAT(JobsOf(json::parse(text)), IsEmpty()) << text;
}

}  // namespace
}  // namespace crossover::api
