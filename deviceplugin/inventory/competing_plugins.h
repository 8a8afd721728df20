// Finds GPUs of this node that another device plugin gives out, or has given out. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/withheld.h"
#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

// Returns the GPUs of `uuids` that another device plugin advertises, by UUID, each with the reason to
// withhold it. `registered` has the device IDs of other resources that the kubelet knows. `allocatable` has
// the amount of each resource on the node; it is zero, or missing, if the plugin is gone. If a resource of
// NVIDIA's has device names that are not UUIDs, it counts as advertising all GPUs.
std::map<std::string, base::WithheldReason> FindCompetingPlugins(
    const std::map<std::string, std::vector<std::string>>& registered,
    const std::map<std::string, std::int64_t>& allocatable, const std::vector<std::string>& uuids);

// Returns the pods that have GPUs of `uuids` from another plugin, by UUID of the GPU. It does not matter
// whether the plugin still runs. Each pod has the form "team/p, as nvidia.com/gpu". Pods that have ended,
// or are not in `pods`, do not count.
std::map<std::string, std::set<std::string>> FindPodsOfCompetingPlugins(
    const std::vector<DeviceAllocationByOthers>& by_others, const std::vector<Pod>& pods,
    const std::vector<std::string>& uuids);

}  // namespace crossover::deviceplugin
