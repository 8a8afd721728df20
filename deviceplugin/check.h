// crossover-deviceplugin --check: whether a configuration is valid, without serving anybody.
#pragma once

#include <string>

namespace crossover::deviceplugin {

// `standalone`: of a workstation's daemon, else of a node's. The program's exit code: 0, or 2 after saying
// what is wrong.
int CheckConfig(const std::string& path, bool standalone);

}  // namespace crossover::deviceplugin
