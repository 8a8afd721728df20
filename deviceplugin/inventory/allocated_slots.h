// Finds the slots that pods hold, according to the kubelet. A GPU may have more held slots than it has
// slots now, if the configuration changed after the pods came. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

using AllocatedSlots = std::map<std::string, std::set<std::uint32_t>>;  // slot numbers, by UUID of the GPU

// Returns the slots that living pods hold. Pods that have ended, or are not in `pods`, do not count.
AllocatedSlots FindAllocatedSlots(const std::vector<Pod>& pods,
                                  const std::vector<DeviceAllocation>& handed_out);

}  // namespace crossover::deviceplugin
