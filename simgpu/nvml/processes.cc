// Implements the calls that list the processes on a GPU, in the three layouts that NVML has had.
#include "simgpu/machine/machine.h"
#include "simgpu/nvml/devices.h"

namespace {

constexpr unsigned kNoInstance = 0xffffffff;

// Fills in what all layouts have. The last two have the place in a MIG GPU besides.
void Fill(nvmlProcessInfo_v1_t* info, unsigned pid, unsigned long long bytes) { *info = {pid, bytes}; }
void Fill(nvmlProcessInfo_t* info, unsigned pid, unsigned long long bytes) {
  *info = {
      .pid = pid, .usedGpuMemory = bytes, .gpuInstanceId = kNoInstance, .computeInstanceId = kNoInstance};
}

// Leaves out processes in PID namespaces that the caller cannot see: they have no ID there.
template <typename Info>
nvmlReturn_t List(nvmlDevice_t handle, unsigned* count, Info* infos) {
  FIND_DEVICE(handle, device);
  if (count == nullptr || (*count > 0 && infos == nullptr)) return NVML_ERROR_INVALID_ARGUMENT;
  const auto processes = simgpu::Machine::Get()->UsedMemoryByProcess(device->gpu);
  const unsigned room = *count;
  *count = static_cast<unsigned>(processes.size());
  if (room < *count) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (const auto& [pid, bytes] : processes) Fill(infos++, static_cast<unsigned>(pid), bytes);
  return NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned* count,
                                                     nvmlProcessInfo_t* infos) {
  return List(handle, count, infos);
}

// The layouts of versions 2 and 3 are the same.
static_assert(sizeof(nvmlProcessInfo_v2_t) == sizeof(nvmlProcessInfo_t));
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned* count,
                                                     nvmlProcessInfo_v2_t* infos) {
  return List(handle, count, reinterpret_cast<nvmlProcessInfo_t*>(infos));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle, unsigned* count,
                                                  nvmlProcessInfo_v1_t* infos) {
  return List(handle, count, infos);
}

}  // extern "C"
