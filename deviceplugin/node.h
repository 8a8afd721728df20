// crossover-deviceplugin on a node of a cluster: slots for its kubelet, turns for its pods.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// Serves until told to stop. Returns the program's exit code: 2 where something is wrong with the
// configuration or with what it names.
int RunOnNode(const std::string& config_path);

}  // namespace crossover::deviceplugin
