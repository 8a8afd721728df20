#include "simgpu/machine/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simgpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(MachineShapeTest, ReadsNodesAndGpus) {
  std::string error;
  const auto config = ParseMachineShape("2x3,mode=timeslice,quantum_us=500,state=/tmp/here", &error);
  ASSERT_TRUE(config) << error;
  ASSERT_EQ(config->nodes.size(), 2u);
  EXPECT_EQ(config->nodes[1].name, "node1");
  ASSERT_EQ(config->nodes[1].gpus.size(), 3u);
  EXPECT_EQ(config->nodes[1].gpus[2].uuid, "GPU-00000000-0000-0000-0001-000000000002");
  EXPECT_EQ(config->mode, ShareMode::kTimeslice);
  EXPECT_EQ(config->quantum_us, 500);
  EXPECT_EQ(config->state, "/tmp/here");
}

TEST(MachineShapeTest, RefusesOtherText) {
  std::string error;
  for (const char* text : {"", "2", "2x", "x2", "0x1", "2x0", "2x2x2", "65x1", "2x64", "-1x1", "2x2 "}) {
    EXPECT_FALSE(ParseMachineShape(text, &error)) << text;
    EXPECT_THAT(error, StartsWith("SIMGPU_MACHINE: ")) << text;
  }
  EXPECT_FALSE(ParseMachineShape("2x2,speed=3", &error));
  EXPECT_THAT(error, HasSubstr("unknown key 'speed'"));
  EXPECT_FALSE(ParseMachineShape("2x2,mode", &error));
  EXPECT_THAT(error, HasSubstr("SIMGPU_MACHINE: expected key=value, got mode"));
}

TEST(MachineYamlTest, ReadsRulesOfKernels) {
  std::string error;
  const auto config = ParseMachineYaml(
      "state: /tmp/m\nkernel_scale: 2.5\nhollow_copies_from: 65536\nkernel_effects: false\nkernels:\n"
      "  - {name: '^gemm', ns: 5e4, sms: 100}\n  - {name: ., ns_per_wave: 10}\nnodes: [{gpus: 1}]",
      &error);
  ASSERT_TRUE(config) << error;
  EXPECT_EQ(config->kernel_costs.scale, 2.5);
  EXPECT_EQ(config->hollow_copies_from, 65536u);
  EXPECT_FALSE(config->kernel_effects);
  ASSERT_EQ(config->kernel_costs.rules.size(), 2u);
  EXPECT_EQ(config->kernel_costs.rules[0].ns, 5e4);
  EXPECT_EQ(config->kernel_costs.rules[0].sms, 100);
  EXPECT_EQ(RuleOf(config->kernel_costs, "my_gemm").ns_per_wave, 10);

  for (const auto& [rules, complaint] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{}", "line 2: kernels: expected a list of rules, got a map"},
           {"[gemm]", "line 2: a rule of kernels: expected a map of name, ns and others, got gemm"},
           {"[{name: a, ns: fast}]", "line 2: ns: expected a number of ns from 0 to 3600000000000, got fast"},
           {"[{name: a, ns: ' 5'}]", "line 2: ns: expected a number of ns from 0 to 3600000000000, got  5"},
           {"[{name: '(', ns: 1}]", "line 2: name: expected a POSIX extended regular expression, got '('"},
           {"[{ns: 1}]", "line 2: name: expected a regular expression in each rule of kernels, got none"},
           {"[{name: a}]", "line 2: a rule of kernels: expected ns, ns_per_wave, ns_per_kib or sms"},
           {"[{name: a, us: 1}]", "line 2: unknown key 'us' of a kernel; known are name, ns"}}) {
    EXPECT_FALSE(
        ParseMachineYaml(std::string("state: /tmp/m\nkernels: ") + rules + "\nnodes: [{gpus: 1}]", &error));
    EXPECT_THAT(error, StartsWith(complaint)) << rules;
  }
  MachineConfig other;
  EXPECT_TRUE(SetScalar(&other, "hollow_collectives_from", "65536", &error)) << error;
  EXPECT_EQ(other.hollow_collectives_from, 65536u);
  EXPECT_FALSE(SetScalar(&other, "hollow_collectives_from", "1", &error));
  EXPECT_EQ(error,
            "hollow_collectives_from: expected off or a whole number of bytes from 65536 to 1e15, got 1");
  EXPECT_FALSE(SetScalar(&other, "hollow_copies_from", "65535", &error));
  EXPECT_EQ(error,
            "hollow_copies_from: expected off or a whole number of bytes from 65536 to 1e15, got 65535");
}

TEST(MachineConfigTest, NumbersAreCheckedAgainstTheirRange) {
  MachineConfig config;
  std::string error;
  EXPECT_FALSE(SetScalar(&config, "launch_us", "-1", &error));
  EXPECT_EQ(error, "launch_us: expected a whole number from 0 to 10000, got -1");
  EXPECT_FALSE(SetScalar(&config, "queue_depth", "1.5", &error));
  EXPECT_FALSE(SetScalar(&config, "queue_depth", "12x", &error));
  EXPECT_FALSE(SetScalar(&config, "node_link_bytes_per_s", "nan", &error));
  EXPECT_FALSE(SetScalar(&config, "node_link_bytes_per_s", "0", &error));
  EXPECT_FALSE(SetScalar(&config, "mode", "fast", &error));
  EXPECT_EQ(error, "mode: expected mps or timeslice, got fast");
  EXPECT_TRUE(SetScalar(&config, "node_link_bytes_per_s", "8e6", &error));
  EXPECT_EQ(config.node_link_bytes_per_s, 8e6);
  EXPECT_TRUE(SetScalar(&config, "link_sharing", "private", &error));
  EXPECT_TRUE(config.private_links);
  for (const char* bad : {"0.89", "1.41", "fast", ""})
    EXPECT_FALSE(SetScalar(&config, "co_run", bad, &error));
  EXPECT_EQ(error, "co_run: expected a number from 0.9 to 1.4, got \"\"");
  EXPECT_TRUE(SetScalar(&config, "co_run", "1.25", &error));
  EXPECT_EQ(config.co_run, 1.25);
  EXPECT_FALSE(SetScalar(&config, "device_files", "yes", &error));
  EXPECT_EQ(error, "device_files: expected false or true, got yes");
  EXPECT_TRUE(SetScalar(&config, "device_files", "true", &error));
  EXPECT_TRUE(config.device_files);
}

TEST(MachineConfigTest, TheGpuIsKindByDefault) {
  const MachineConfig config;
  EXPECT_EQ(config.channel_order, ChannelOrder::kFree);
  EXPECT_EQ(config.handover_us, 0);
  EXPECT_EQ(config.switch_us, 0);
  EXPECT_EQ(config.blocked_wait_ns, 0);
  EXPECT_EQ(config.blocked_device_wait_ns, 0);
  EXPECT_EQ(config.outside_copy_us, 0);
  EXPECT_EQ(config.compute_mode, ComputeMode::kDefault);
  EXPECT_EQ(config.lazy_loading.every, 0);
  EXPECT_EQ(config.loading_us, 0);
}

TEST(MachineConfigTest, TheGpuMayBeLessKind) {
  std::string error;
  const auto config = ParseMachineShape(
      "1x1,channels=2,channel_order=release,handover_us=300,switch_us=50,blocked_wait_ns=700,"
      "blocked_device_wait_ns=30,lazy_loading=first,loading_us=4000,outside_copy_us=60,"
      "compute_mode=exclusive_process",
      &error);
  ASSERT_TRUE(config) << error;
  EXPECT_EQ(config->channels, 2);
  EXPECT_EQ(config->channel_order, ChannelOrder::kRelease);
  EXPECT_EQ(config->handover_us, 300);
  EXPECT_EQ(config->switch_us, 50);
  EXPECT_EQ(config->blocked_wait_ns, 700);
  EXPECT_EQ(config->blocked_device_wait_ns, 30);
  EXPECT_EQ(config->lazy_loading.every, LoadingRule::kOnce);
  EXPECT_EQ(config->loading_us, 4000);
  EXPECT_EQ(config->outside_copy_us, 60);
  EXPECT_EQ(config->compute_mode, ComputeMode::kExclusiveProcess);
  const auto plain = ParseMachineShape("1x1", &error);
  for (const char* key : {"handover_us", "switch_us", "blocked_wait_ns", "blocked_device_wait_ns"}) {
    const auto other = ParseMachineShape(std::string("1x1,") + key + "=1", &error);
    EXPECT_NE(Digest(*plain), Digest(*other)) << key << " is a matter of the whole machine";
  }
  EXPECT_NE(Digest(*plain), Digest(*ParseMachineShape("1x1,compute_mode=prohibited", &error)));
}

TEST(MachineConfigTest, WhatIsUnkindIsCheckedToo) {
  struct Case {
    const char* key;
    const char* value;
    const char* complaint;
  };
  const Case cases[] = {
      {"channels", "0", "channels: expected a whole number from 1 to 32, got 0"},
      {"channels", "33", "channels: expected a whole number from 1 to 32, got 33"},
      {"channel_order", "fifo", "channel_order: expected free, release or in_order, got fifo"},
      {"handover_us", "-1", "handover_us: expected a whole number from 0 to 100000, got -1"},
      {"switch_us", "1e6", "switch_us: expected a whole number from 0 to 100000, got 1e6"},
      {"blocked_wait_ns", "0.5", "blocked_wait_ns: expected a whole number from 0 to 10000000, got 0.5"},
      {"blocked_device_wait_ns", "x",
       "blocked_device_wait_ns: expected a whole number from 0 to 10000000, got x"},
      {"outside_copy_us", "-1", "outside_copy_us: expected a whole number from 0 to 10000000, got -1"},
      {"compute_mode", "exclusive",
       "compute_mode: expected default, exclusive_process or prohibited, got exclusive"},
      {"loading_us", "-5", "loading_us: expected a whole number from 0 to 10000000, got -5"},
      {"lazy_loading", "on", "lazy_loading: expected off, first or a whole number from 2 to 1000000, got on"},
      {"lazy_loading", "1", "lazy_loading: expected off, first or a whole number from 2 to 1000000, got 1"},
  };
  for (const Case& one : cases) {
    MachineConfig config;
    std::string error;
    EXPECT_FALSE(SetScalar(&config, one.key, one.value, &error)) << one.key;
    EXPECT_EQ(error, one.complaint);
  }
}

TEST(MachineConfigTest, TheNodeIsOneOfTheMachine) {
  std::string error;
  const auto config = ParseMachineShape("2x1,node=1", &error);
  ASSERT_TRUE(config) << error;
  EXPECT_EQ(config->node, 1);
  EXPECT_FALSE(ParseMachineShape("2x1,node=2", &error));
  EXPECT_THAT(error, HasSubstr("node: expected a node's number from 0 to 1, got 2"));
}

TEST(MachineConfigTest, DigestFollowsWhatIsShared) {
  std::string error;
  const auto plain = ParseMachineShape("2x2", &error), slow = ParseMachineShape("2x2,launch_us=10", &error),
             sliced = ParseMachineShape("2x2,mode=timeslice", &error),
             small = ParseMachineShape("2x1", &error), gains = ParseMachineShape("2x2,co_run=1.1", &error);
  EXPECT_EQ(Digest(*plain), Digest(*slow)) << "launch_us is a matter of each process";
  EXPECT_NE(Digest(*plain), Digest(*sliced));
  EXPECT_NE(Digest(*plain), Digest(*small));
  EXPECT_NE(Digest(*plain), Digest(*gains));
}

TEST(MachineConfigTest, TwoGpusMayNotShareAUuid) {
  std::string error;
  auto config = ParseMachineShape("1x2", &error);
  config->nodes[0].gpus[1].uuid = config->nodes[0].gpus[0].uuid;
  EXPECT_FALSE(CompleteMachine(&*config, &error));
  EXPECT_THAT(error, HasSubstr("uuid: expected one for each GPU, got "));
  config->nodes[0].gpus[1].uuid = "GPU-1";
  EXPECT_FALSE(CompleteMachine(&*config, &error));
  EXPECT_THAT(error,
              HasSubstr("uuid: expected the form GPU-00000000-0000-0000-0000-000000000000, got GPU-1"));
}

TEST(MachineYamlTest, ReadsTheWholeFormat) {
  std::string error;
  const auto config = ParseMachineYaml(R"(
state: /tmp/m1
mode: timeslice
quantum_us: 1000
launch_us: 3
queue_depth: 64
link_sharing: private
node_link_bytes_per_s: 8e6
gpu_link_bytes_per_s: 1e9
nccl_ctas: 8
nodes:
  - name: left
    gpus: 2
  - gpus:
      - {uuid: GPU-11111111-2222-3333-4444-555555555555, memory_mib: 1024, sms: 8}
      - {sms: 4}
)",
                                       &error);
  ASSERT_TRUE(config) << error;
  EXPECT_EQ(config->state, "/tmp/m1");
  EXPECT_EQ(config->launch_us, 3);
  EXPECT_EQ(config->nccl_ctas.Of(132), 8);
  ASSERT_EQ(config->nodes.size(), 2u);
  EXPECT_EQ(config->nodes[0].name, "left");
  EXPECT_EQ(config->nodes[1].name, "node1");
  EXPECT_EQ(config->nodes[1].gpus[0].memory_mib, 1024u);
  EXPECT_EQ(config->nodes[1].gpus[1].uuid, "GPU-00000000-0000-0000-0001-000000000001");
  EXPECT_EQ(config->nodes[1].gpus[1].sms, 4);
}

TEST(MachineYamlTest, NamesLineKeyAndWhatIsAllowed) {
  struct Case {
    const char* text;
    const char* complaint;
  };
  const Case cases[] = {
      {"state: /tmp/m\nspeed: 3\nnodes: [{gpus: 1}]", "line 2: unknown key 'speed'; known are state, mode"},
      {"state: /tmp/m\nmode: fast\nnodes: [{gpus: 1}]", "line 2: mode: expected mps or timeslice, got fast"},
      {"state: /tmp/m\nco_run: 1.5\nnodes: [{gpus: 1}]",
       "line 2: co_run: expected a number from 0.9 to 1.4, got 1.5"},
      {"state: /tmp/m\nnodes:\n  - gpu: 1",
       "line 3: key 'gpu' of a node: expected name, with a plain value, or gpus"},
      {"state: /tmp/m\nnodes:\n  - gpus: -1", "gpus: expected a number from 0 to 64 or a list, got -1"},
      {"state: /tmp/m\nnodes:\n  - gpus: [{sms: 0}]", "sms: expected a whole number from 1 to 1024, got 0"},
      {"state: /tmp/m\nnodes: 2", "nodes: expected a list, got 2"},
      {"state: /tmp/m", "nodes: expected 1 to 64 nodes and 1 to 64 GPUs in all, got 0 nodes and 0 GPUs"},
      {"nodes: [{gpus: 1}]", "state: expected the directory of the shared state, got none"},
      {"[1, 2]", "line 1: the machine: expected a map, got a list"},
      {"state: [", "line "},
      {"", "the machine: expected a map, got nothing"},
  };
  for (const Case& one : cases) {
    std::string error;
    EXPECT_FALSE(ParseMachineYaml(one.text, &error)) << one.text;
    EXPECT_THAT(error, HasSubstr(one.complaint)) << one.text;
  }
}

}  // namespace
}  // namespace simgpu
