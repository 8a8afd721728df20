// Runs crossover-deviceplugin without a kubelet, as the daemon of a workstation.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// Serves until SIGTERM or SIGINT. Returns the program's exit code: 2 if the configuration, or something that
// it names, is wrong.
int RunStandalone(const std::string& config_path);

}  // namespace crossover::deviceplugin
