// Runs crossover-deviceplugin without a kubelet, as the daemon of a workstation.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// Serves until it is told to stop. Returns the program's exit code: 2 where the configuration, or something
// that it names, is wrong.
int RunStandalone(const std::string& config_path);

}  // namespace crossover::deviceplugin
