// Reads the keys that the configurations of all daemons share.
#pragma once

#include "common/config/yaml_map.h"
#include "deviceplugin/config/config.h"

namespace crossover::deviceplugin {

// Reads the top level of a document into `config`. REQUIRES: `config` holds the defaults. If neither the
// defaults nor the document set the API socket, it becomes api.sock next to the arbiter's socket.
// `handlers` holds further keys, beyond those of every daemon. Throws yaml::Fault.
void ReadConfig(const YAML::Node& root, Config* config, yaml::Handlers handlers = {});

// Reads a map that may contain only keys that may change while a daemon runs, and the keys of `handlers`.
// Stores the values in `config`. Throws yaml::Fault.
void ReadLiveConfig(const YAML::Node& node, const std::string& key, Config* config,
                    yaml::Handlers handlers = {});

}  // namespace crossover::deviceplugin
