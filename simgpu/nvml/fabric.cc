// Implements the calls about how GPUs are connected. The GPUs have no NVLink and belong to no fabric of
// several nodes; two GPUs of a node reach each other's memory.
#include <cstddef>
#include <cstring>

#include "simgpu/nvml/devices.h"

namespace {

// Answers a call about one NVLink of a device.
nvmlReturn_t NoLink(nvmlDevice_t handle, unsigned link, const void* result) {
  FIND_DEVICE(handle, device);
  if (link >= NVML_NVLINK_MAX_LINKS || result == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return NVML_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t handle, unsigned link,
                                                 nvmlIntNvLinkDeviceType_t* type) {
  return NoLink(handle, link, type);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t handle, unsigned link, nvmlPciInfo_t* info) {
  return NoLink(handle, link, info);
}

// Knows the second and third layout. The third adds a field behind those of the second.
static_assert(offsetof(nvmlGpuFabricInfo_v3_t, healthMask) == offsetof(nvmlGpuFabricInfo_v2_t, healthMask));
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t handle, nvmlGpuFabricInfoV_t* info) {
  FIND_DEVICE(handle, device);
  if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned version = info->version;
  if (version != nvmlGpuFabricInfo_v2 && version != nvmlGpuFabricInfo_v3)
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  std::memset(info, 0, version == nvmlGpuFabricInfo_v2 ? sizeof(nvmlGpuFabricInfo_v2_t) : sizeof *info);
  info->version = version;
  info->state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t handle, nvmlDevice_t other_handle,
                                    nvmlGpuP2PCapsIndex_t capability, nvmlGpuP2PStatus_t* status) {
  FIND_DEVICE(handle, device);
  FIND_DEVICE(other_handle, other);
  if (status == nullptr || capability >= NVML_P2P_CAPS_INDEX_UNKNOWN) return NVML_ERROR_INVALID_ARGUMENT;
  const bool reads_or_writes =
      capability == NVML_P2P_CAPS_INDEX_READ || capability == NVML_P2P_CAPS_INDEX_WRITE;
  *status = reads_or_writes && device != other ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
  return NVML_SUCCESS;
}

}  // extern "C"
