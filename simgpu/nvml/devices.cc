#include "simgpu/nvml/devices.h"

#include <cstdio>

namespace simgpu {

std::atomic<int>& Uses() {
  static std::atomic<int> uses{0};
  return uses;
}

std::vector<std::unique_ptr<Device>>& Devices() {
  static auto* devices = new std::vector<std::unique_ptr<Device>>;
  return *devices;
}

Device* Find(nvmlDevice_t handle) {
  for (const auto& device : Devices()) {
    if (reinterpret_cast<nvmlDevice_t>(device.get()) == handle) return device.get();
  }
  return nullptr;
}

std::string BusId(const Device& device, int domain_digits) {
  char text[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
  std::snprintf(text, sizeof text, "%0*X:%02X:00.0", domain_digits, 0U,
                static_cast<unsigned>(device.gpu + 1));
  return text;
}

}  // namespace simgpu
