#include "deviceplugin/check.h"

#include <cstdio>

#include "deviceplugin/config/node_yaml.h"
#include "deviceplugin/config/yaml_config.h"
#include "deviceplugin/serve.h"

namespace crossover::deviceplugin {

int CheckConfig(const std::string& path, bool standalone) {
  std::string error;
  const bool valid =
      standalone ? ReadYamlConfig(path, &error).has_value() : ReadNodeYamlConfig(path, &error).has_value();
  if (!valid) return Fail(error);
  std::printf("%s is valid\n", path.c_str());
  return 0;
}

}  // namespace crossover::deviceplugin
