// The keys of every daemon's configuration.
#pragma once

#include "common/config/yaml_map.h"
#include "deviceplugin/config/config.h"

namespace crossover::deviceplugin {

// Of a document's top. `config` has what holds where nothing is said; without a path of its API's socket,
// that lies beside the other. `handlers`: of keys beside those of every daemon. Throws yaml::Fault.
void ReadConfig(const YAML::Node& root, Config* config, yaml::Handlers handlers = {});

// Of a map that says only what can change while a daemon runs, and the keys of `handlers`: into `config`.
// Throws yaml::Fault.
void ReadLiveConfig(const YAML::Node& node, const std::string& key, Config* config,
                    yaml::Handlers handlers = {});

}  // namespace crossover::deviceplugin
