// Reads the configuration of a daemon that serves a kubelet. It has the keys of every daemon, the map
// `node`, and the map `configurations`. The latter holds named configurations for nodes that carry the
// matching label.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "deviceplugin/config/config.h"
#include "deviceplugin/config/node_settings.h"

namespace crossover::deviceplugin {

struct NodeConfig {
  // Holds a named configuration. It differs from the one without a name only in settings that may change
  // while the daemon runs.
  struct Named {
    Config daemon;
    NodeLiveSettings live;
  };
  Config daemon;
  NodeSettings node;
  std::map<std::string, Named> named;

  // Replaces the configuration without a name by the one called `name`. Returns false, and changes nothing,
  // if there is none of that name.
  bool Choose(const std::string& name);
};

// Returns the names, separated by commas, of the settings that differ between `running` and `wanted` and
// take effect only at the next start. A setting that is empty in `wanted` comes from the environment and
// does not count as different.
std::string NeedRestart(const NodeSettings& running, const NodeSettings& wanted);

// These functions parse `text`, or the file at `path`. The arguments and errors are those of
// ParseYamlConfig().
std::optional<NodeConfig> ParseNodeYamlConfig(const std::string& text, const std::string& name,
                                              std::string* error);
std::optional<NodeConfig> ReadNodeYamlConfig(const std::string& path, std::string* error);

}  // namespace crossover::deviceplugin
