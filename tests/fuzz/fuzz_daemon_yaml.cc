// libs: crossover_daemon_yaml
// The node daemon's configuration: a text is either refused with a line that names the file, or every value
// of what comes out is one that is allowed.
#include <cstddef>
#include <cstdint>
#include <string>

#include "deviceplugin/arbiter/messages.h"
#include "deviceplugin/config/values.h"
#include "deviceplugin/config/yaml_config.h"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string error;
  const auto config =
      deviceplugin::ParseYamlConfig(std::string(reinterpret_cast<const char*>(data), size), "f", &error);
  if (config) Check(*config);
  if (!config && error.compare(0, 2, "f:") != 0) __builtin_trap();
  return 0;
}
