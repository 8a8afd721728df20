// Implements crossover-deviceplugin --check, which says whether a configuration is valid and does not serve.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// Checks the configuration of a workstation's daemon (`standalone`) or of a node's. Returns the program's
// exit code: 0, or 2 after printing what is wrong.
int CheckConfig(const std::string& path, bool standalone);

}  // namespace crossover::deviceplugin
