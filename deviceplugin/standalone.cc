#include "deviceplugin/standalone.h"

#include "deviceplugin/config/yaml_config.h"
#include "deviceplugin/serve.h"

namespace crossover::deviceplugin {

int RunStandalone(const std::string& config_path) {
  std::string error;
  const std::optional<Config> config = ReadYamlConfig(config_path, &error);
  if (!config) return Fail(error);
  ServeOptions options;
  options.reread = [&config_path](std::string* why) { return ReadYamlConfig(config_path, why); };
  return Serve(*config, options);
}

}  // namespace crossover::deviceplugin
