// crossover-deviceplugin without a kubelet: a workstation's own daemon.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// Serves until told to stop. Returns the program's exit code: 2 where something is wrong with the
// configuration or with what it names.
int RunStandalone(const std::string& config_path);

}  // namespace crossover::deviceplugin
