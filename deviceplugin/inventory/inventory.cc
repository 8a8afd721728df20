#include "deviceplugin/inventory/inventory.h"

#include <algorithm>

namespace crossover::deviceplugin {
namespace {

// All GPUs of a node share these device files.
constexpr const char* kSharedDeviceFiles[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"};

}  // namespace

DeviceList::Gpus Advertise(const std::vector<NvmlLibrary::Gpu>& gpus, std::uint32_t slots,
                           std::vector<std::string>* left_out) {
  DeviceList::Gpus advertised;
  for (const NvmlLibrary::Gpu& gpu : gpus) {
    if (gpu.mig) {
      left_out->push_back(gpu.uuid);
      continue;
    }
    AllocatableGpu allocatable{.device_files = {"/dev/nvidia" + std::to_string(gpu.minor)}};
    for (const char* file : kSharedDeviceFiles) allocatable.device_files.emplace_back(file);
    advertised.emplace(gpu.uuid, AdvertisedGpu{.gpu = std::move(allocatable),
                                               .slots = gpu.memory_bytes ? slots : std::min(slots, 1u),
                                               .numa = gpu.numa});
  }
  return advertised;
}

}  // namespace crossover::deviceplugin
