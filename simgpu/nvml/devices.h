// Keeps the GPUs of the node as NVML's handles know them.
#pragma once

#define NVML_NO_UNVERSIONED_FUNC_DEFS
#pragma GCC visibility push(default)
#include <nvml.h>
#pragma GCC visibility pop

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simgpu/machine/config.h"
#include "simgpu/machine/os.h"

namespace simgpu {

// A Device is one GPU. Its address is its handle.
struct Device {
  int gpu = 0;  // place on the node
  GpuConfig config;
  std::mutex mutex;
  Nanos looked = 0;  // when the utilisation was last asked for; `busy` is the busy time then
  Nanos busy = 0;
};

// Returns how often the library was initialised and not shut down.
std::atomic<int>& Uses();
// Returns the devices. They are made by nvmlInit() and never freed.
std::vector<std::unique_ptr<Device>>& Devices();
// Returns the device of a handle, or nullptr if the handle is not the address of a device.
Device* Find(nvmlDevice_t handle);
// Returns the PCI address with so many digits of the domain, such as "0000:01:00.0".
std::string BusId(const Device& device, int domain_digits);

}  // namespace simgpu

#define FIND_DEVICE(handle, device)                         \
  if (simgpu::Uses() == 0) return NVML_ERROR_UNINITIALIZED; \
  simgpu::Device* const device = simgpu::Find(handle);      \
  if (device == nullptr) return NVML_ERROR_INVALID_ARGUMENT
