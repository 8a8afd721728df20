// Who else gives out the GPUs of this node. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace crossover::deviceplugin {

// Why GPUs of `uuids` are not to be given out by us, by UUID: another plugin advertises them. `registered`:
// the device IDs that the kubelet has of other resources; `allocatable`: how much the node has of each
// resource, where a plugin that is gone has none. Names of devices that are no UUIDs, of a resource of
// NVIDIA's, stand for all GPUs.
std::map<std::string, std::string> FindRivals(
    const std::map<std::string, std::vector<std::string>>& registered,
    const std::map<std::string, std::string>& allocatable, const std::vector<std::string>& uuids);

}  // namespace crossover::deviceplugin
