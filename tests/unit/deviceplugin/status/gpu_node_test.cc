#include "deviceplugin/status/gpu_node.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;

GpuNode::Job Job() {
  GpuNode::Job job;
  job.name_space = "team";
  job.gang = "team/g";
  job.profile_key = "k";
  job.gpus = 2;
  job.compute_s = 0.0123456;
  job.ranks = {
      {.pod = "p", .gpu = "GPU-a", .rank = 3, .compute_s = 0.0123456, .wait_s = 0.002, .input_s = 0.0098765}};
  job.communication = {{.pod = "p",
                        .communicator = 0xabc,
                        .size = 4,
                        .rank = 1,
                        .function = CROSSOVER_SEND,
                        .peer = 2,
                        .bytes = 64},
                       {.pod = "p",
                        .communicator = 0xabd,
                        .size = 2,
                        .rank = 0,
                        .function = CROSSOVER_ALL_REDUCE,
                        .peer = {},
                        .bytes = 8}};
  job.source = "measured";
  job.at_s = 1'700'000'000;
  job.meetings = {{.beside = {{"other", "other/h", "l"}}, .gain = 1.31239, .at_s = 1'700'000'000}};
  return job;
}

GpuNode Made() {
  return {.name = "n1",
          .node_uid = "u",
          .version = "1",
          .mode = "observe",
          .mode_limited_by = "the-cluster",
          .configuration = "",
          .sharing = "mps",
          .sharing_reason = "it runs",
          .mps_served = 1000,
          .link_bytes_per_s = 25'000'000'000,
          .gpus = {{.uuid = "GPU-a",
                    .model = "H100",
                    .memory_bytes = 80,
                    .slots = 2,
                    .withheld = {},
                    .no_turns = "",
                    .holders = {{"team", "p", "main", "team/g", {"GPU-a::0", "GPU-a::1"}}}},
                   {.uuid = "GPU-b",
                    .model = "",
                    .slots = 2,
                    .withheld = base::WithheldReason{base::Withheld::kXid, "Xid 79"},
                    .no_turns = "",
                    .holders = {}}},
          .requested = {.requests = {.milli_cpu = 1500,
                                     .memory_bytes = 1 << 20,
                                     .others = {{"example.com/nic", 1}}},
                        .pods = 3},
          .jobs = {Job()}};
}

TEST(GpuNodeTest, WhatIsApplied) {
  const json body = json::parse(BodyOf(Made()));
  EXPECT_EQ(body["kind"], "GPUNode");
  EXPECT_EQ(body["metadata"]["ownerReferences"][0]["uid"], "u");
  const json& status = body["status"];
  EXPECT_EQ(status["healthyGPUs"], 1);
  EXPECT_EQ(status["slots"], 4);
  EXPECT_EQ(status["usedSlots"], 2);
  EXPECT_EQ(status["modeLimitedBy"], "the-cluster");
  EXPECT_FALSE(status.contains("configuration"));
  EXPECT_EQ(status["linkBytesPerSecond"], 25'000'000'000);
  EXPECT_FALSE(json::parse(BodyOf(GpuNode{}))["status"].contains("linkBytesPerSecond")) << "it is not known";
  EXPECT_EQ(status["sharing"],
            json::parse(R"({"kind":"mps","reason":"it runs","multiUser":false,"servedUser":1000})"));
  EXPECT_EQ(status["gpus"][0]["holders"][0]["gang"], "team/g");
  EXPECT_EQ(status["gpus"][1]["withheld"], "Xid 79");
  EXPECT_EQ(status["gpus"][1]["reason"], "Xid");
  EXPECT_FALSE(status["gpus"][0].contains("withheld"));
  EXPECT_FALSE(status["gpus"][0].contains("reason"));
  EXPECT_EQ(status["gpus"][1]["healthy"], false);
}

TEST(GpuNodeTest, WhatARankCallsIsToldByNames) {
  const json told = json::parse(BodyOf(Made()))["status"]["jobs"][0]["communication"];
  EXPECT_EQ(told, json::parse(R"([
      {"pod": "p", "communicator": "0000000000000abc", "size": 4, "rank": 1, "function": "Send", "peer": 2, "bytes": 64},
      {"pod": "p", "communicator": "0000000000000abd", "size": 2, "rank": 0, "function": "AllReduce", "bytes": 8}])"));
}

TEST(GpuNodeTest, AGpuOfUnknownMemoryIsGivenOutAndTheReasonIsNamed) {
  GpuNode node = Made();
  node.gpus[0].memory_bytes = 0;
  node.gpus[0].memory_unknown = true;
  json gpu = json::parse(BodyOf(node))["status"]["gpus"][0];
  EXPECT_EQ(gpu["reason"], "MemoryUnknown");
  EXPECT_EQ(gpu["healthy"], true);
  EXPECT_FALSE(gpu.contains("withheld"));
  node.gpus[0].withheld = base::WithheldReason{base::Withheld::kXid, "Xid 79"};
  gpu = json::parse(BodyOf(node))["status"]["gpus"][0];
  EXPECT_EQ(gpu["reason"], "Xid") << "why it is withheld counts for more";
}

TEST(GpuNodeTest, WhatSignalsCost) {
  GpuNode node = Made();
  json gpu = json::parse(BodyOf(node))["status"]["gpus"][0];
  EXPECT_FALSE(gpu.contains("signals")) << "the daemon has none";
  node.gpus[0].signals =
      signals::Figures{.signallers = 2,
                       .host = {.resident_bytes = (9 << 20) + 70'000, .cpu_seconds = 123.4},
                       .exported_bytes = 2 << 20,
                       .again = 3};
  gpu = json::parse(BodyOf(node))["status"]["gpus"][0];
  EXPECT_EQ(gpu["signals"],
            json::parse(R"({"signallers":2,"late":3,"hostMemoryBytes":9437184,"cpuSeconds":120.0,
      "deviceMemoryBytes":2097152,"deviceMemorySource":"exported"})"));
  node.gpus[0].signals = signals::Figures{};
  gpu = json::parse(BodyOf(node))["status"]["gpus"][0];
  EXPECT_EQ(gpu["signals"], json::parse(R"({"signallers":0,"late":0})")) << "the rest is not known";
  EXPECT_EQ(UrgentPartOf(node), UrgentPartOf(Made()));
}

TEST(GpuNodeTest, ASlotThatAnInitContainerLeftToTheMainOneIsOne) {
  GpuNode node = Made();
  node.gpus[0].holders = {{"team", "p", "init", "team/g", {"GPU-1::0"}},
                          {"team", "p", "main", "team/g", {"GPU-1::0"}}};
  EXPECT_EQ(UsedSlots(node.gpus[0].holders), 1u);
  const json status = json::parse(BodyOf(node))["status"];
  EXPECT_EQ(status["usedSlots"], 1);
  EXPECT_EQ(status["gpus"][0]["holders"].size(), 2u) << "each is told";
}

TEST(GpuNodeTest, JobsAndWhatOtherPodsAskFor) {
  const json status = json::parse(BodyOf(Made()))["status"];
  EXPECT_EQ(
      status["requested"],
      json::parse(R"({"milliCPU":1500,"memoryBytes":1048576,"pods":3,"others":{"example.com/nic":1}})"));
  const json& job = status["jobs"][0];
  EXPECT_EQ(job["computeSeconds"], 0.01235) << "more figures are noise";
  EXPECT_EQ(job["measuredAt"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(
      job["ranks"],
      json::parse(
          R"([{"pod":"p","gpu":"GPU-a","rank":3,"computeSeconds":0.01235,"waitSeconds":0.002,"inputSeconds":0.009877}])"));
  EXPECT_FALSE(job.contains("exposedSeconds")) << "not known";
  EXPECT_EQ(job["meetings"][0], json::parse(R"({"gain":1.312,"measuredAt":"2023-11-14T22:13:20Z",
      "beside":[{"namespace":"other","gang":"other/h","profileKey":"l"}]})"));
}

TEST(GpuNodeTest, OnlyWhatTheExtenderNeedsIsUrgent) {
  GpuNode node = Made();
  const std::string before = UrgentPartOf(node);
  node.version = "2";
  node.gpus[0].no_turns = "something";
  node.gpus[1].withheld->text = "Xid 48";
  node.jobs.clear();
  node.requested.pods = 4;
  EXPECT_EQ(UrgentPartOf(node), before);
  node.gpus[1].withheld.reset();
  EXPECT_NE(UrgentPartOf(node), before);
  node = Made();
  node.gpus[0].holders.clear();
  EXPECT_NE(UrgentPartOf(node), before);
  node = Made();
  node.maintenance = true;
  EXPECT_NE(UrgentPartOf(node), before);
}

}  // namespace
}  // namespace crossover::deviceplugin
