// Implements libnvidia-ml.so.1, which shows the node's GPUs as a node agent sees them. It shows all GPUs of
// the node, not only those that the process may use.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"
#include "simgpu/nvml/devices.h"
#include "simgpu/nvml/health.h"

using namespace simgpu;

namespace {

struct EventSet {
  std::mutex mutex;
  HealthFile health;
  std::vector<Device*> devices;
  explicit EventSet(const std::string& path) : health(path) {}
};

nvmlReturn_t CopyText(const std::string& text, char* target, unsigned bytes) {
  if (target == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (text.size() >= bytes) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(target, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInitWithFlags(unsigned) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Machine* machine = Machine::Get();
  if (machine == nullptr) return NVML_ERROR_DRIVER_NOT_LOADED;
  const auto& gpus = machine->node_config().gpus;
  for (std::size_t gpu = Devices().size(); gpu < gpus.size(); ++gpu) {
    auto device = std::make_unique<Device>();
    device->gpu = static_cast<int>(gpu);
    device->config = gpus[gpu];
    device->looked = MonotonicNow();
    device->busy = machine->BusyTime(device->gpu);
    Devices().push_back(std::move(device));
  }
  ++Uses();
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit() { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown() {
  if (Uses() == 0) return NVML_ERROR_UNINITIALIZED;
  --Uses();
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS:
      return "The operation was successful";
    case NVML_ERROR_UNINITIALIZED:
      return "NVML was not first initialized with nvmlInit()";
    case NVML_ERROR_INVALID_ARGUMENT:
      return "A supplied argument is invalid";
    case NVML_ERROR_NOT_SUPPORTED:
      return "The requested operation is not available on target device";
    case NVML_ERROR_NOT_FOUND:
      return "A query to find an object was unsuccessful";
    case NVML_ERROR_INSUFFICIENT_SIZE:
      return "An input argument is not large enough";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return "NVIDIA driver is not loaded";
    case NVML_ERROR_TIMEOUT:
      return "User provided timeout passed";
    default:
      return "Unknown error";
  }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
  return Uses() == 0 ? NVML_ERROR_UNINITIALIZED : CopyText("580.00", version, bytes);
}
nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned bytes) {
  return CopyText("13.580.00", version, bytes);
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *version = 13000;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  if (Uses() == 0) return NVML_ERROR_UNINITIALIZED;
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *count = static_cast<unsigned>(Devices().size());
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* handle) {
  if (Uses() == 0) return NVML_ERROR_UNINITIALIZED;
  if (handle == nullptr || index >= Devices().size()) return NVML_ERROR_INVALID_ARGUMENT;
  *handle = reinterpret_cast<nvmlDevice_t>(Devices()[index].get());
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* handle) {
  return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* handle) {
  if (Uses() == 0) return NVML_ERROR_UNINITIALIZED;
  if (uuid == nullptr || handle == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  for (const auto& device : Devices()) {
    if (device->config.uuid != uuid) continue;
    *handle = reinterpret_cast<nvmlDevice_t>(device.get());
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* handle) {
  if (Uses() == 0) return NVML_ERROR_UNINITIALIZED;
  if (bus_id == nullptr || handle == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  for (const auto& device : Devices()) {
    if (BusId(*device, 8) != bus_id && BusId(*device, 4) != bus_id) continue;
    *handle = reinterpret_cast<nvmlDevice_t>(device.get());
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned* index) {
  FIND_DEVICE(handle, device);
  if (index == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *index = static_cast<unsigned>(device->gpu);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t handle, unsigned* minor) {
  return nvmlDeviceGetIndex(handle, minor);
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* uuid, unsigned bytes) {
  FIND_DEVICE(handle, device);
  return CopyText(device->config.uuid, uuid, bytes);
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* name, unsigned bytes) {
  FIND_DEVICE(handle, device);
  return CopyText("simgpu H100-like", name, bytes);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* info) {
  FIND_DEVICE(handle, device);
  if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *info = nvmlPciInfo_t{};
  info->bus = static_cast<unsigned>(device->gpu + 1);
  info->pciDeviceId = 0x233010de;
  std::snprintf(info->busId, sizeof info->busId, "%s", BusId(*device, 8).c_str());
  std::snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "%s", BusId(*device, 4).c_str());
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t handle, nvmlPciInfo_t* info) {
  return nvmlDeviceGetPciInfo_v3(handle, info);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
  FIND_DEVICE(handle, device);
  if (memory == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  // A GPU without memory of its own, as that of the GB10, answers so.
  static const bool untold = std::getenv("SIMGPU_MEMORY_UNTOLD") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  if (untold) return NVML_ERROR_NOT_SUPPORTED;
  memory->total = device->config.memory_mib << 20;
  memory->used = Machine::Get()->UsedMemory(device->gpu);
  memory->free = memory->total - memory->used;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t* memory) {
  if (memory == nullptr || memory->version != nvmlMemory_v2) return NVML_ERROR_INVALID_ARGUMENT;
  nvmlMemory_t plain{};
  const nvmlReturn_t result = nvmlDeviceGetMemoryInfo(handle, &plain);
  memory->total = plain.total;
  memory->used = plain.used;
  memory->free = plain.free;
  memory->reserved = 0;
  return result;
}

// Reports the share of the time since the last call during which anything ran.
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, nvmlUtilization_t* utilization) {
  FIND_DEVICE(handle, device);
  if (utilization == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const std::lock_guard lock(device->mutex);
  const Nanos busy = Machine::Get()->BusyTime(device->gpu), now = MonotonicNow();
  const Nanos passed = now > device->looked ? now - device->looked : 1;
  utilization->gpu = static_cast<unsigned>(std::min<Nanos>(100, (busy - device->busy) * 100 / passed));
  utilization->memory = 0;
  device->busy = busy;
  device->looked = now;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned* current, unsigned* pending) {
  FIND_DEVICE(handle, device);
  if (current == nullptr || pending == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *current = *pending = NVML_DEVICE_MIG_DISABLE;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, nvmlComputeMode_t* mode) {
  FIND_DEVICE(handle, device);
  if (mode == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const ComputeMode of_machine = Machine::Get()->config().compute_mode;
  *mode = of_machine == ComputeMode::kProhibited         ? NVML_COMPUTEMODE_PROHIBITED
          : of_machine == ComputeMode::kExclusiveProcess ? NVML_COMPUTEMODE_EXCLUSIVE_PROCESS
                                                         : NVML_COMPUTEMODE_DEFAULT;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major, int* minor) {
  FIND_DEVICE(handle, device);
  if (major == nullptr || minor == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *major = 9;
  *minor = 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t handle, unsigned long long* types) {
  FIND_DEVICE(handle, device);
  if (types == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *types = nvmlEventTypeXidCriticalError;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  if (Uses() == 0) return NVML_ERROR_UNINITIALIZED;
  if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  *set = reinterpret_cast<nvmlEventSet_t>(new EventSet(Machine::Get()->config().state + "/health"));
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  delete reinterpret_cast<EventSet*>(set);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t handle, unsigned long long types, nvmlEventSet_t raw) {
  FIND_DEVICE(handle, device);
  if (raw == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if ((types & ~static_cast<unsigned long long>(nvmlEventTypeXidCriticalError)) != 0)
    return NVML_ERROR_NOT_SUPPORTED;
  auto* set = reinterpret_cast<EventSet*>(raw);
  const std::lock_guard lock(set->mutex);
  set->devices.push_back(device);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t raw, nvmlEventData_t* data, unsigned timeout_ms) {
  if (Uses() == 0) return NVML_ERROR_UNINITIALIZED;
  if (raw == nullptr || data == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  auto* set = reinterpret_cast<EventSet*>(raw);
  const Nanos deadline = MonotonicNow() + timeout_ms * kMillisecond;
  for (;;) {
    {
      const std::lock_guard lock(set->mutex);
      while (const auto event = set->health.Next()) {
        for (Device* device : set->devices) {
          if (device->config.uuid != event->uuid) continue;
          *data = nvmlEventData_t{};
          data->device = reinterpret_cast<nvmlDevice_t>(device);
          data->eventType = nvmlEventTypeXidCriticalError;
          data->eventData = event->xid;
          data->gpuInstanceId = data->computeInstanceId = 0xffffffff;
          return NVML_SUCCESS;
        }
      }
    }
    const Nanos now = MonotonicNow();
    if (now >= deadline) return NVML_ERROR_TIMEOUT;
    std::uint32_t never = 0;
    FutexWait(&never, 0, std::min(deadline, now + 50 * kMillisecond));
  }
}
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data, unsigned timeout_ms) {
  return nvmlEventSetWait_v2(set, data, timeout_ms);
}

}  // extern "C"
