// Decides which GPUs of the driver become slots.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "deviceplugin/nvml/library.h"
#include "deviceplugin/plugin/device_list.h"

namespace crossover::deviceplugin {

// Returns every GPU that is not split into MIG instances, with `slots` slots each. A GPU whose memory is not
// known has one slot, because it is not known what fits on it together. Appends the UUIDs of the other GPUs
// to `left_out`. Pure.
DeviceList::Gpus Advertise(const std::vector<NvmlLibrary::Gpu>& gpus, std::uint32_t slots,
                           std::vector<std::string>* left_out);

}  // namespace crossover::deviceplugin
