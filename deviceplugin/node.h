// Runs crossover-deviceplugin on a node of a cluster. It offers slots to the kubelet and keeps the turns of
// pods.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// Serves until SIGTERM or SIGINT. Returns the program's exit code: 2 if the configuration, or something that
// it names, is wrong.
int RunOnNode(const std::string& config_path);

}  // namespace crossover::deviceplugin
