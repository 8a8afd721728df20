// libs: crossover_daemon_yaml crossover::node
// Reads the node daemon's configuration. A text is either refused with a line that names the file, or every
// value that comes out of it is allowed. A daemon on a node takes all that a standalone daemon takes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/config/node_yaml.h"
#include "deviceplugin/config/yaml_config.h"
#include "deviceplugin/values/values.h"

namespace {

using namespace crossover;

void Check(const deviceplugin::Config& config) {
  bool good = deviceplugin::ValidSocketPath(config.arbiter.socket.path);
  good &= config.arbiter.socket.mode >= 0600 && config.arbiter.socket.mode <= 0777;
  good &= config.metrics_listen.empty() || deviceplugin::ValidListenAddress(config.metrics_listen);
  good &= config.profiles.empty() || deviceplugin::ValidDirectory(config.profiles);
  good &= config.arbiter.live.turn.watchdog.floor > 0 && config.arbiter.live.turn.watchdog.factor > 0;
  good &= config.arbiter.limits.connections > 0 && config.arbiter.limits.gpus > 0;
  if (config.arbiter.live.gpus) {
    good &= !config.arbiter.live.gpus->empty();
    for (const std::string& uuid : *config.arbiter.live.gpus) good &= arbiter::ValidGpuUuid(uuid);
  }
  if (!good) __builtin_trap();
}

void CheckLive(const deviceplugin::NodeLiveSettings& live) {
  bool good = live.slots_per_gpu >= 1 && live.slots_per_gpu <= deviceplugin::kMostSlotsPerGpu;
  good &= deviceplugin::ValidDirectory(live.library) && !live.allocation.cdi_kind.empty();
  if (!good) __builtin_trap();
}

void CheckNode(const deviceplugin::NodeConfig& config) {
  const deviceplugin::NodeSettings& node = config.node;
  bool good = deviceplugin::ValidDirectory(node.host_directory);
  good &= deviceplugin::ValidDirectory(node.kubelet_directory);
  good &= deviceplugin::ValidDirectory(node.mps_directory) && !node.mps_control.empty();
  if (!good) __builtin_trap();
  Check(config.daemon);
  CheckLive(node.live);
  for (const auto& [name, named] : config.named) {
    Check(named.daemon);
    CheckLive(named.live);
    deviceplugin::NodeConfig chosen = config;
    if (name.empty() || !chosen.Choose(name)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string error;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto config = deviceplugin::ParseYamlConfig(text, "f", &error);
  if (config) Check(*config);
  if (!config && error.compare(0, 2, "f:") != 0) __builtin_trap();
  const auto on_node = deviceplugin::ParseNodeYamlConfig(text, "f", &error);
  if (on_node) CheckNode(*on_node);
  if (!on_node && (config || error.compare(0, 2, "f:") != 0)) __builtin_trap();
  return 0;
}
