#include "deviceplugin/status/gpu_node.h"

#include <gtest/gtest.h>

#include "tests/unit/common/api/golden_gpu_nodes.h"

namespace crossover::deviceplugin {
namespace {

const base::WithheldReason kXid{base::Withheld::kXid, "Xid 79"};

TEST(GpuNodeTest, TheBodyIsTheGoldenText) { EXPECT_EQ(BodyOf(api::GoldenGpuNode()), api::kGoldenGpuNode); }

TEST(GpuNodeTest, AGpuThatIsWithheldSaysWhy) {
  GpuNode::Gpu gpu;
  SetHealth(kXid, false, &gpu);
  EXPECT_FALSE(gpu.healthy);
  EXPECT_EQ(gpu.withheld, "Xid 79");
  EXPECT_EQ(gpu.notes->reason, "Xid");
  SetHealth(std::nullopt, false, &gpu);
  EXPECT_TRUE(gpu.healthy);
  EXPECT_EQ(gpu.withheld + gpu.notes->reason, "");
}

TEST(GpuNodeTest, AGpuOfUnknownMemoryIsGivenOutAndTheReasonIsNamed) {
  GpuNode::Gpu gpu;
  SetHealth(std::nullopt, true, &gpu);
  EXPECT_TRUE(gpu.healthy);
  EXPECT_EQ(gpu.withheld, "");
  EXPECT_EQ(gpu.notes->reason, "MemoryUnknown");
  SetHealth(kXid, true, &gpu);
  EXPECT_EQ(gpu.notes->reason, "Xid") << "why it is withheld counts for more";
}

TEST(GpuNodeTest, WhatSignalsCost) {
  const signals::Figures figures{.signallers = 2,
                                 .host = {.resident_bytes = 9 << 20, .cpu_seconds = 120},
                                 .exported_bytes = 2 << 20,
                                 .again = 3};
  EXPECT_EQ(SignalsOf(figures), api::GoldenGpuNode().gpus[0].notes->signals);
  EXPECT_EQ(SignalsOf({}).host_memory, std::nullopt) << "it is not known";
}

TEST(GpuNodeTest, OnlyWhatTheExtenderNeedsIsUrgent) {
  GpuNode node = api::GoldenGpuNode();
  const std::string before = UrgentPartOf(node);
  node.version = "2";
  node.gpus[0].notes.Edit().no_turns = "something";
  node.gpus[0].notes.Edit().signals.reset();
  node.gpus[1].withheld = "Xid 48";
  node.jobs.clear();
  node.requested.others["pods"] = 4;
  EXPECT_EQ(UrgentPartOf(node), before);
  node.gpus[1].healthy = true;
  EXPECT_NE(UrgentPartOf(node), before);
  node = api::GoldenGpuNode();
  node.gpus[0].holders.clear();
  EXPECT_NE(UrgentPartOf(node), before);
  node = api::GoldenGpuNode();
  node.maintenance = false;
  EXPECT_NE(UrgentPartOf(node), before);
}

}  // namespace
}  // namespace crossover::deviceplugin
