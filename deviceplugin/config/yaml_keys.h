// The keys of every daemon's configuration.
#pragma once

#include "deviceplugin/config/config.h"
#include "deviceplugin/config/yaml_map.h"

namespace crossover::deviceplugin {

// Of a document's top. `config`: what holds where nothing is said; without a path of its API's socket, that
// lies beside the other. `handlers`: of keys beside those of every daemon. Throws yaml::Fault.
Config ReadConfig(const YAML::Node& root, Config config = {}, yaml::Handlers handlers = {});

}  // namespace crossover::deviceplugin
