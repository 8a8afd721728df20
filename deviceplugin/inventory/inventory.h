// Which GPUs of the driver become slots.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deviceplugin/nvml/library.h"
#include "deviceplugin/plugin/device_list.h"

namespace crossover::deviceplugin {

// Every GPU but those that are split into instances, with `slots` each. `left_out`: UUIDs of the others.
// Pure.
DeviceList::Gpus Advertise(const std::vector<NvmlLibrary::Gpu>& gpus, std::uint32_t slots,
                           std::vector<std::string>* left_out);

}  // namespace crossover::deviceplugin
