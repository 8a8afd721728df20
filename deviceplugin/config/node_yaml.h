// The configuration of a daemon that serves a kubelet: every daemon's keys, and the map `node`.
#pragma once

#include <optional>
#include <string>

#include "deviceplugin/config/config.h"
#include "deviceplugin/config/node_settings.h"

namespace crossover::deviceplugin {

struct NodeConfig {
  Config daemon;
  NodeSettings node;
};

// As ParseYamlConfig().
std::optional<NodeConfig> ParseNodeYamlConfig(const std::string& text, const std::string& name,
                                              std::string* error);
std::optional<NodeConfig> ReadNodeYamlConfig(const std::string& path, std::string* error);

}  // namespace crossover::deviceplugin
