// Decides which GPUs of a node a process may use. Pure, except for MayOpenDeviceFile().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simgpu/machine/config.h"

namespace simgpu {

// Returns the places of GPUs on their node, in the order in which the process counts them. It asks
// `may_open` for each place of the node. `chosen` is CUDA_VISIBLE_DEVICES, or null if it is not set. Its
// items are indices among the GPUs that may be opened, or UUIDs or their beginnings. The first item that is
// neither, or that repeats a GPU, ends the list.
std::vector<int> VisibleGpus(const std::vector<GpuConfig>& gpus, const std::function<bool(int)>& may_open,
                             const char* chosen);

// Returns true if this process may read and write /dev/nvidia<gpu>. A container may do so for the GPUs that
// it was given.
bool MayOpenDeviceFile(int gpu);

}  // namespace simgpu
