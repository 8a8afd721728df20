// Defines the configuration of a daemon, independent of its source (YAML file or command line).
#pragma once

#include <string>

#include "common/logging/log.h"
#include "deviceplugin/arbiter/settings.h"
#include "deviceplugin/signals/transport.h"

namespace crossover::deviceplugin {

struct Config {
  arbiter::Settings arbiter;
  std::string metrics_listen;  // host:port; empty: no metrics
  std::string api_socket;      // path of the Unix socket; empty: no API
  std::string trace_file;      // file for events, as JSON lines; empty: none
  // The daemon stores job profiles in this directory. If it is empty, the daemon stores none.
  std::string profiles = "/var/lib/crossover/profiles";
  signals::Transport transport = signals::Transport::kHost;
  logging::Level log_level = logging::Level::kInfo;
  logging::Format log_format = logging::Format::kText;
};

// Returns the names, separated by commas, of the settings that differ between `running` and `wanted` and
// take effect only at the next start. Returns an empty string if there are none.
std::string NeedRestart(const Config& running, const Config& wanted);

}  // namespace crossover::deviceplugin
