// What a node daemon is told, wherever it was read from.
#pragma once

#include <string>

#include "common/logging/log.h"
#include "deviceplugin/arbiter/settings.h"

namespace crossover::deviceplugin {

struct Config {
  arbiter::Settings arbiter;
  std::string metrics_listen;                            // host:port; empty: no metrics
  std::string api_socket;                                // path; empty: no API
  std::string trace_file;                                // empty: none
  std::string profiles = "/var/lib/crossover/profiles";  // of the standalone daemon; a directory; empty: none
  logging::Level log_level = logging::Level::kInfo;
  logging::Format log_format = logging::Format::kText;
};

// Names of the settings that differ and are in force only from the next start, separated by commas.
std::string NeedRestart(const Config& running, const Config& wanted);

}  // namespace crossover::deviceplugin
