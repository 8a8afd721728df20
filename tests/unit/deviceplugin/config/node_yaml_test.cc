#include "deviceplugin/config/node_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::HasSubstr;

NodeConfig Allowed(const std::string& text) {
  std::string error;
  const auto config = ParseNodeYamlConfig(text, "file", &error);
  EXPECT_TRUE(config) << error;
  return config.value_or(NodeConfig());
}

std::string Refused(const std::string& text) {
  std::string error;
  EXPECT_FALSE(ParseNodeYamlConfig(text, "file", &error)) << text;
  return error;
}

TEST(NodeYamlTest, Defaults) {
  const NodeConfig config = Allowed("");
  EXPECT_EQ(config.node.live.slots_per_gpu, 4u);
  EXPECT_EQ(config.node.live.allocation.devices, DeviceStrategy::kCdi);
  EXPECT_EQ(config.node.live.allocation.injection, Injection::kPreloadFile);
  EXPECT_EQ(config.node.kubelet_directory, "/var/lib/kubelet");
}

TEST(NodeYamlTest, TheArbitersSocketIsAloneInItsDirectory) {
  for (const char* text : {"", "mode: observe", "socket: {mode: 0660}"}) {
    const Config config = Allowed(text).daemon;
    EXPECT_EQ(config.arbiter.socket.path, "/run/crossover/arbiter/arbiter.sock") << text;
    EXPECT_EQ(config.api_socket, "/run/crossover/api.sock") << text;
  }
  EXPECT_EQ(Allowed("api: {socket: off}").daemon.api_socket, "");
}

TEST(NodeYamlTest, TheExampleSaysTheDefaults) {
  std::string error;
  const auto example = ReadNodeYamlConfig(EXAMPLE_CONFIG, &error);
  ASSERT_TRUE(example) << error;
  const NodeSettings defaults;
  EXPECT_EQ(example->daemon.arbiter.socket.path, Allowed("").daemon.arbiter.socket.path);
  EXPECT_EQ(example->daemon.api_socket, Allowed("").daemon.api_socket);
  EXPECT_EQ(example->node.live.slots_per_gpu, defaults.live.slots_per_gpu);
  EXPECT_EQ(example->node.live.allocation.cdi_kind, defaults.live.allocation.cdi_kind);
  EXPECT_EQ(example->node.host_directory, defaults.host_directory);
  EXPECT_EQ(example->node.kubelet_directory, defaults.kubelet_directory);
  EXPECT_EQ(example->node.live.library, defaults.live.library);
}

TEST(NodeYamlTest, KeysOfEveryDaemonAndOfANode) {
  const NodeConfig config = Allowed(
      "mode: observe\n"
      "node:\n"
      "  name: n1\n"
      "  slots_per_gpu: 4\n"
      "  devices: device-nodes\n"
      "  driver_root: /opt/driver\n"
      "  injection: environment\n"
      "  api_server: {server: https://a:1, ca_file: /ca, token_file: /token}\n");
  EXPECT_EQ(config.daemon.arbiter.live.policy, arbiter::Policy::kObserve);
  EXPECT_EQ(config.node.name, "n1");
  EXPECT_EQ(config.node.live.slots_per_gpu, 4u);
  EXPECT_EQ(config.node.live.allocation.devices, DeviceStrategy::kDeviceNodes);
  EXPECT_EQ(config.node.live.allocation.driver_root, "/opt/driver");
  EXPECT_EQ(config.node.live.allocation.injection, Injection::kEnvironment);
  EXPECT_EQ(config.node.api_server.server, "https://a:1");
}

TEST(NodeYamlTest, WhatIsWrittenOnTheNode) {
  EXPECT_FALSE(Allowed("").node.marks.operator_labels);
  EXPECT_FALSE(Allowed("").node.marks.scale_down_disabled);
  const NodeSettings node = Allowed("node: {gpu_operator: labels, scale_down: disabled}").node;
  EXPECT_TRUE(node.marks.operator_labels);
  EXPECT_TRUE(node.marks.scale_down_disabled);
  EXPECT_EQ(NeedRestart(NodeSettings(), node), "node.gpu_operator, node.scale_down");
  EXPECT_EQ(Refused("node:\n  gpu_operator: label\n"),
            "file:2: node.gpu_operator: expected labels or leave, got label");
}

TEST(NodeYamlTest, TheRootOfTheKubeletsCgroups) {
  for (const char* good : {"kubelet", "a/b.slice", "..a"})
    EXPECT_EQ(Allowed("node: {cgroup_root: " + std::string(good) + "}").node.cgroup_root, good);
  for (const char* bad : {"/kubelet", "kubelet/", "a//b", "a/../b", ".", "a b", "\"a\\t\""}) {
    EXPECT_THAT(Refused("node:\n  cgroup_root: " + std::string(bad) + "\n"),
                HasSubstr("node.cgroup_root: expected a path of a cgroup without its first slash and without "
                          "spaces, such as kubelet, got "));
  }
}

TEST(NodeYamlTest, TheMemoryOfGpusThatTellNone) {
  EXPECT_EQ(Allowed("").node.live.gpu_memory_bytes, 0u);
  EXPECT_EQ(Allowed("node: {gpu_memory: 119Gi}").node.live.gpu_memory_bytes, std::uint64_t{119} << 30);
  EXPECT_EQ(Allowed("node: {gpu_memory: 128G}").node.live.gpu_memory_bytes, 128'000'000'000u);
  NodeConfig config = Allowed("configurations: {spark: {node: {gpu_memory: 1Mi}}}");
  ASSERT_TRUE(config.Choose("spark"));
  EXPECT_EQ(config.node.live.gpu_memory_bytes, 1u << 20);
  for (const char* bad : {"119", "-1Gi", "119 GiB", "2Pi", "1023Ki", "much", "''"}) {
    EXPECT_THAT(Refused("node:\n  gpu_memory: " + std::string(bad) + "\n"),
                testing::StartsWith("file:2: node.gpu_memory: expected the memory of a GPU, from 1Mi to 1Pi, "
                                    "such as 119Gi, got "))
        << bad;
  }
  EXPECT_THAT(Refused("node: {gpu_memory: [1Gi]}"), HasSubstr("node.gpu_memory: expected"));
}

TEST(NodeYamlTest, TheSpeedOfTheLink) {
  EXPECT_EQ(Allowed("").node.live.link_gbps, 0u);
  EXPECT_EQ(Allowed("node: {link_gbps: 400}").node.live.link_gbps, 400u);
  NodeConfig config = Allowed("configurations: {fast: {node: {link_gbps: 3200}}}");
  ASSERT_TRUE(config.Choose("fast"));
  EXPECT_EQ(config.node.live.link_gbps, 3200u);
  for (const char* bad : {"-1", "100001", "fast", "1.5"})
    EXPECT_THAT(Refused("node:\n  link_gbps: " + std::string(bad) + "\n"),
                testing::StartsWith("file:2: node.link_gbps: expected "))
        << bad;
}

TEST(NodeYamlTest, NamedConfigurationsDifferInWhatTheySay) {
  // The configuration without a name counts, wherever it stands in the file.
  NodeConfig config = Allowed(
      "configurations:\n"
      "  a100:\n"
      "    mode: observe\n"
      "    node: {slots_per_gpu: 4}\n"
      "  empty:\n"
      "node: {slots_per_gpu: 3, injection: environment}\n"
      "quantum_us: 7000\n");
  EXPECT_EQ(config.node.live.slots_per_gpu, 3u);
  ASSERT_TRUE(config.Choose("empty"));
  EXPECT_EQ(config.node.live.slots_per_gpu, 3u);
  ASSERT_TRUE(config.Choose("a100"));
  EXPECT_EQ(config.node.live.slots_per_gpu, 4u);
  EXPECT_EQ(config.node.live.allocation.injection, Injection::kEnvironment);
  EXPECT_EQ(config.daemon.arbiter.live.policy, arbiter::Policy::kObserve);
  EXPECT_EQ(config.daemon.arbiter.live.turn.policy.quantum, 7'000'000);
  EXPECT_FALSE(config.Choose("h100"));
  EXPECT_EQ(config.node.live.slots_per_gpu, 4u) << "as it was";
}

TEST(NodeYamlTest, NamedConfigurationsAreValidatedWithTheRest) {
  EXPECT_EQ(Refused("mode: off\nconfigurations:\n  a:\n    node:\n      slots_per_gpu: 101\n"),
            "file:5: configurations.a.node.slots_per_gpu: expected 1 to 100, got 101");
  EXPECT_THAT(Refused("configurations: {a: {node: {name: n}}}"),
              HasSubstr("configurations.a.node.name: unknown key; expected one of cdi"))
      << "what cannot change while the daemon runs";
  EXPECT_THAT(Refused("configurations: {a: {socket: {path: /x}}}"),
              HasSubstr("configurations.a.socket: unknown key"));
  EXPECT_THAT(Refused("configurations: {-a: {}}"), HasSubstr("names of 1 to 63 letters"));
  EXPECT_THAT(Refused("configurations: {a: {}, a: {}}"), HasSubstr("configurations.a: stands twice"));
  EXPECT_THAT(Refused("configurations: 3"), HasSubstr("a map of names and configurations"));
}

TEST(NodeYamlTest, WhatIsInForceOnlyFromTheNextStartIsNamed) {
  NodeSettings running;
  running.name = "from-the-environment";
  NodeSettings wanted;
  EXPECT_EQ(NeedRestart(running, wanted), "");
  wanted.kubelet_directory = "/elsewhere";
  wanted.name_space = "other";
  wanted.live.slots_per_gpu = 9;
  EXPECT_EQ(NeedRestart(running, wanted), "node.namespace, node.kubelet_directory");
}

TEST(NodeYamlTest, EachPartOfTheAccessToTheApiServerIsInForceOnlyFromTheNextStart) {
  NodeSettings running;
  running.api_server = {"https://a:1", "/ca", "/token"};
  NodeSettings wanted = running;
  EXPECT_EQ(NeedRestart(running, wanted), "");
  wanted.api_server = {"https://b:1", "/other-ca", "/other-token"};
  EXPECT_EQ(NeedRestart(running, wanted),
            "node.api_server.server, node.api_server.ca_file, node.api_server.token_file");
  wanted.api_server = {"", "/other-ca", "/other-token"};
  EXPECT_EQ(NeedRestart(running, wanted), "") << "without a server the service account is used";
}

TEST(NodeYamlTest, WhatIsWrongIsToldWithItsLineKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(Refused("node:\n  slots_per_gpu: 0\n"), "file:2: node.slots_per_gpu: expected 1 to 100, got 0");
  EXPECT_EQ(Refused("node:\n  devices: usb\n"),
            "file:2: node.devices: expected cdi or device-nodes or environment, got usb");
  EXPECT_THAT(Refused("node: {injection: magic}"), HasSubstr("environment or preload-file"));
  EXPECT_THAT(Refused("node: {host_directory: here}"), HasSubstr("an absolute path"));
  EXPECT_THAT(Refused("node: {colour: red}"),
              HasSubstr("node.colour: unknown key; expected one of api_server, cdi, cdi_kind"));
  EXPECT_THAT(Refused("node: 3"), HasSubstr("a map of"));
  EXPECT_THAT(Refused("colour: red"), HasSubstr("colour: unknown key; expected one of api, "));
  EXPECT_THAT(Refused("node: {api_server: {port: 1}}"), HasSubstr("node.api_server.port: unknown key"));
}

}  // namespace
}  // namespace crossover::deviceplugin
