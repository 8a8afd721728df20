// The configuration of a daemon that serves a kubelet: every daemon's keys, the map `node`, and
// configurations of other names for nodes that are labelled with them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "deviceplugin/config/config.h"
#include "deviceplugin/config/node_settings.h"

namespace crossover::deviceplugin {

struct NodeConfig {
  // Differs from the others in what can change while the daemon runs.
  struct Named {
    Config daemon;
    NodeLiveSettings live;
  };
  Config daemon;
  NodeSettings node;
  std::map<std::string, Named> named;

  // Puts the configuration of that name in the place of the one without. False where there is none.
  bool Choose(const std::string& name);
};

// Names of the settings that differ and are in force only from the next start, separated by commas. Those
// that `wanted` leaves to the environment do not differ.
std::string NeedRestart(const NodeSettings& running, const NodeSettings& wanted);

// As ParseYamlConfig().
std::optional<NodeConfig> ParseNodeYamlConfig(const std::string& text, const std::string& name,
                                              std::string* error);
std::optional<NodeConfig> ReadNodeYamlConfig(const std::string& path, std::string* error);

}  // namespace crossover::deviceplugin
