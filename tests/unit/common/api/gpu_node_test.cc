#include "common/api/gpu_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/kube/json.h"
#include "tests/unit/common/api/golden_gpu_nodes.h"

namespace crossover::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;

TEST(GpuNodeTest, TheGoldenOneIsReadAndWritten) {
  const auto read = ParseGpuNode(json::parse(kGoldenGpuNode));
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == GoldenGpuNode()) << kube::Dump(WriteGpuNode(*read));
  EXPECT_EQ(kube::Dump(WriteGpuNode(GoldenGpuNode())), kGoldenGpuNode);
}

TEST(GpuNodeTest, TheYoungOneIsReadAndWritten) {
  const auto read = ParseGpuNode(json::parse(kGoldenYoungGpuNode));
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == GpuNode{.name = "n2"});
  EXPECT_EQ(kube::Dump(WriteGpuNode(GpuNode{.name = "n2"})), kGoldenYoungGpuNode);
}

TEST(GpuNodeTest, FieldsOfALaterDaemonAreSkipped) {
  json object = json::parse(kGoldenGpuNode);
  object["status"]["later"] = {{"field", 1}};
  object["status"]["gpus"][0]["later"] = json::array({1});
  object["status"]["gpus"][1]["reason"] = "Later";
  object["status"]["jobs"][0]["ranks"][0]["later"] = "x";
  GpuNode expected = GoldenGpuNode();
  expected.gpus[1].notes.Edit().reason = "Later";
  EXPECT_TRUE(ParseGpuNode(object) == expected);
}

TEST(GpuNodeTest, EachBrokenTwin) {
  for (const BrokenGpuNode& twin : kBrokenGpuNodes) {
    const auto read = ParseGpuNode(Broken(twin));
    ASSERT_EQ(read.has_value(), twin.mode != nullptr) << twin.patch;
    if (!read) continue;
    std::size_t holders = 0;
    for (const GpuNode::Gpu& gpu : read->gpus) holders += gpu.holders.size();
    EXPECT_EQ(read->mode, twin.mode) << twin.patch;
    EXPECT_EQ(read->gpus.size(), twin.gpus) << twin.patch;
    EXPECT_EQ(holders, twin.holders) << twin.patch;
    EXPECT_EQ(read->jobs.size(), twin.jobs) << twin.patch;
    const auto pods = read->requested.others.find("pods");
    EXPECT_EQ(pods == read->requested.others.end() ? 0 : pods->second, twin.pods) << twin.patch;
  }
}

// The same object comes of what is read, written and read again: no figure is rounded twice.
TEST(GpuNodeTest, WhatIsReadOfATwinIsWrittenAndReadAlike) {
  for (const BrokenGpuNode& twin : kBrokenGpuNodes) {
    const auto read = ParseGpuNode(Broken(twin));
    if (read) {
      EXPECT_TRUE(ParseGpuNode(json::parse(kube::Dump(WriteGpuNode(*read)))) == read) << twin.patch;
    }
  }
}

TEST(GpuNodeTest, FiguresAreRounded) {
  GpuNode node = GoldenGpuNode();
  node.jobs[0].compute_s = 0.0123456;
  node.gpus[0].notes.Edit().signals->cpu_seconds = 123.4;
  *node.gpus[0].notes.Edit().signals->host_memory += 70'000;
  EXPECT_EQ(kube::Dump(WriteGpuNode(node)), kGoldenGpuNode);
}

TEST(GpuNodeTest, ASlotThatAnInitContainerLeftToTheMainOneIsOne) {
  GpuNode node = GoldenGpuNode();
  node.gpus[0].holders = {{"team", "p", "init", {"GPU-1::0"}, "team/g"},
                          {"team", "p", "main", {"GPU-1::0"}, "team/g"}};
  EXPECT_EQ(UsedSlots(node.gpus[0].holders), 1u);
  const json status = WriteGpuNode(node)["status"];
  EXPECT_EQ(status["usedSlots"], 1);
  EXPECT_EQ(status["gpus"][0]["holders"].size(), 2u) << "each is told";
}

TEST(GpuNodeTest, WhatADaemonPublishes) {
  const auto node = ParseGpuNode(json::parse(R"({"metadata":{"name":"n1"},"status":{
    "mode":"enforce","maintenance":true,"sharing":{"kind":"mps","multiUser":true},
    "linkBytesPerSecond":25000000000,
    "requested":{"milliCPU":1500,"memoryBytes":1024,"pods":7,"others":{"x.y/z":2}},
    "gpus":[{"uuid":"GPU-a","memoryBytes":85899345920,"slots":2,"healthy":true,
             "holders":[{"namespace":"ns","pod":"p","container":"c","gang":"ns/g","slots":["GPU-a::0","GPU-a::1"]}]},
            {"uuid":"GPU-b","slots":2,"healthy":false,"withheld":"another plugin has it"},
            {"slots":2},{"uuid":"GPU-a","slots":9}]}})"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->mode, "enforce");
  EXPECT_TRUE(node->maintenance && node->multi_user);
  EXPECT_EQ(node->sharing, "mps");
  EXPECT_EQ(node->link_bytes_per_s, 25e9);
  ASSERT_EQ(node->gpus.size(), 2u) << "one without a name, and one that was named before";
  EXPECT_EQ(node->gpus[0].memory, 80ull << 30);
  EXPECT_EQ(node->gpus[0].slots, 2);
  EXPECT_TRUE(node->gpus[0].healthy);
  EXPECT_THAT(node->gpus[0].holders, ElementsAre(GpuNode::Holder{.name_space = "ns",
                                                                 .pod = "p",
                                                                 .container = "c",
                                                                 .slots = {"GPU-a::0", "GPU-a::1"},
                                                                 .gang = "ns/g"}));
  EXPECT_EQ(node->gpus[1].withheld, "another plugin has it");
  EXPECT_EQ(node->requested.milli_cpu, 1500);
  EXPECT_EQ(node->requested.memory_bytes, 1024);
  EXPECT_THAT(node->requested.others, ElementsAre(Pair("pods", 7), Pair("x.y/z", 2)));
  EXPECT_FALSE(ParseGpuNode(json::parse(R"({"status":{}})")));
}

}  // namespace
}  // namespace crossover::api
