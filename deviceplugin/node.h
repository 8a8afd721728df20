// Runs crossover-deviceplugin on a node of a cluster: slots for its kubelet, turns for its pods.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// Serves until it is told to stop. Returns the program's exit code: 2 where the configuration, or something
// that it names, is wrong.
int RunOnNode(const std::string& config_path);

}  // namespace crossover::deviceplugin
