// Who else gives out the GPUs of this node, or has given them out. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

// Why GPUs of `uuids` are not to be given out by us, by UUID: another plugin advertises them. `registered`:
// the device IDs that the kubelet has of other resources; `allocatable`: how much the node has of each
// resource, where a plugin that is gone has none. Names of devices that are no UUIDs, of a resource of
// NVIDIA's, stand for all GPUs.
std::map<std::string, std::string> FindRivals(
    const std::map<std::string, std::vector<std::string>>& registered,
    const std::map<std::string, std::string>& allocatable, const std::vector<std::string>& uuids);

// Pods that have GPUs of `uuids` from another plugin, whether that is still there or not, by UUID: each as
// "team/p, as nvidia.com/gpu". Those that are over, or gone, have none.
std::map<std::string, std::set<std::string>> FindPodsOfRivals(const std::vector<HandedOutByOthers>& by_others,
                                                              const std::vector<Pod>& pods,
                                                              const std::vector<std::string>& uuids);

}  // namespace crossover::deviceplugin
