#include "common/api/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/common/api/golden.h"

namespace crossover::api {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;

TEST(ParseNodeTest, AsARealServerSendsIt) {
  const Node node = ParseNode(json::parse(kGoldenNode)).value();
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(node.uid, "b8c2e343-2ae4-4bbe-98c7-f2d8b6dadd97");
  EXPECT_THAT(node.labels, ElementsAre(Pair("kubernetes.io/hostname", "n1")));
  EXPECT_EQ(node.allocatable.milli_cpu, 32'000);
  EXPECT_EQ(node.allocatable.memory_bytes, 64LL << 30);
  EXPECT_THAT(node.allocatable.others, ElementsAre(Pair("crossover.dev/slot", 4), Pair("pods", 110)));
  EXPECT_TRUE(node.ready);
  EXPECT_FALSE(node.cordoned);
}

TEST(ParseNodeTest, WhatItsDaemonReads) {
  json object = json::parse(kGoldenNode);
  object["metadata"]["annotations"] = {{"crossover.dev/mode", "observe"},
                                       {"crossover.dev/maintenance", true},
                                       {"cluster-autoscaler.kubernetes.io/scale-down-disabled", "true"},
                                       {"csi.volume.kubernetes.io/nodeid", "{}"}};
  object["status"]["nodeInfo"]["containerRuntimeVersion"] = "containerd://1.7.2";
  object["status"]["nodeInfo"]["osImage"] = "Ubuntu 24.04.1 LTS";
  const Node node = ParseNode(object).value();
  EXPECT_THAT(node.annotations,
              ElementsAre(Pair("cluster-autoscaler.kubernetes.io/scale-down-disabled", "true"),
                          Pair("crossover.dev/mode", "observe")))
      << "ours, and one of another program; a value that is no text counts as not set";
  EXPECT_EQ(node.runtime, "containerd://1.7.2");
  EXPECT_EQ(node.os_image, "Ubuntu 24.04.1 LTS");
}

TEST(ParseNodeTest, EachBrokenTwin) {
  const Node golden = ParseNode(json::parse(kGoldenNode)).value();
  const auto read = [](const char* patch) {
    json object = json::parse(kGoldenNode);
    object.merge_patch(json::parse(patch));
    return ParseNode(object);
  };
  for (const char* patch :
       {R"({"metadata": null})", R"({"metadata": {"name": ""}})", R"({"metadata": {"name": 7}})"})
    EXPECT_FALSE(read(patch)) << patch;
  for (const char* patch : {R"({"metadata": {"annotations": "mode"}})", R"({"spec": 3})",
                            R"({"spec": {"unschedulable": "true"}})", R"({"spec": {"taints": {"key": "k"}}})",
                            R"({"status": {"nodeInfo": []}})", R"({"status": {"nodeInfo": {"osImage": 3}}})",
                            R"({"status": {"later": {"field": 1}}})"})
    EXPECT_EQ(read(patch), golden) << patch;
  EXPECT_TRUE(read(R"({"metadata": {"labels": [1]}})")->labels.empty());
  EXPECT_TRUE(read(R"({"metadata": {"uid": {}}})")->uid.empty());
  EXPECT_FALSE(read(R"({"status": {"conditions": {"type": "Ready"}}})")->ready);
  EXPECT_EQ(read(R"({"status": {"allocatable": ["4"]}})")->allocatable, kube::Requests());
  EXPECT_FALSE(read(R"({"status": {"allocatable": {"crossover.dev/slot": "four"}}})")
                   ->allocatable.others.contains("crossover.dev/slot"));
}

TEST(ParseNodeTest, TaintsCordonAndReadiness) {
  json object = json::parse(kGoldenNode);
  object["spec"] =
      json::parse(R"({"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]})");
  object["status"]["conditions"][0]["status"] = "Unknown";
  const Node node = ParseNode(object).value();
  EXPECT_THAT(node.taints, ElementsAre(Taint{.key = "k", .value = "v", .effect = "NoSchedule"}));
  EXPECT_TRUE(node.cordoned);
  EXPECT_FALSE(node.ready);
  EXPECT_FALSE(ParseNode(json::object()));
}

}  // namespace
}  // namespace crossover::api
