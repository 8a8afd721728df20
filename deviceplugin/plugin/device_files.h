// Leaves device files out of an allocation that the node does not have. A container runtime refuses a
// container whose request names a file that is not there.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/plugin/allocation.h"

namespace crossover::deviceplugin {

// Returns the folder under which this process sees the root folder of the node: that of process 1, or an
// empty string if that one cannot be read. A container's own /dev has no files that the driver added after
// its start. REQUIRES: the process is in the process namespace of the node.
std::string RootOfNode();

// Removes the device files from `allocation` that do not exist below the folder `root`, and returns them.
std::vector<std::string> DropAbsentFiles(const std::string& root, Allocation* allocation);

}  // namespace crossover::deviceplugin
