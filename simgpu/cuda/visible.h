// Which of a node's GPUs a process may use. Pure, but for MayOpenDeviceFile.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "simgpu/machine/config.h"

namespace simgpu {

// Places of GPUs on their node, in the order in which the process counts them. `may_open`: asked for each
// place of the node. `chosen`: CUDA_VISIBLE_DEVICES, or null where it is not set: indices among those that
// may be opened, or uuids or their beginnings; the first that is neither ends the list.
std::vector<int> VisibleGpus(const std::vector<GpuConfig>& gpus, const std::function<bool(int)>& may_open,
                             const char* chosen);

// Whether this process may read and write /dev/nvidia<gpu>, as a container may for the GPUs that it was
// given.
bool MayOpenDeviceFile(int gpu);

}  // namespace simgpu
