// Implements initialisation, version, errors and devices.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "simgpu/cuda/context.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/mps.h"
#include "simgpu/machine/machine.h"

using namespace simgpu;

#define FIND_DEVICE(ordinal, device)                                          \
  if (const CUresult ready_ = Ready(); ready_ != CUDA_SUCCESS) return ready_; \
  Device* const device = FindDevice(ordinal);                                 \
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE

namespace {

constexpr int kDriverVersion = constants::kDriverVersion;
constexpr char kDeviceName[] = "simgpu H100-like";

CUcomputemode ModeOf(ComputeMode mode) {
  if (mode == ComputeMode::kProhibited) return CU_COMPUTEMODE_PROHIBITED;
  return mode == ComputeMode::kExclusiveProcess ? CU_COMPUTEMODE_EXCLUSIVE_PROCESS : CU_COMPUTEMODE_DEFAULT;
}

int Attribute(const Device& device, CUdevice_attribute attribute) {
  const bool memops = !Faults().memops_unsupported;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return static_cast<int>(std::min<double>(device.config.sms, ActiveThreadLimit(device.gpu)));
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 232448;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 233472;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1980000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 2619000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 52428800;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 3;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return device.gpu + 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
      return memops ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
      return 0;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      return ModeOf(Machine::Get()->config().compute_mode);
    case CU_DEVICE_ATTRIBUTE_MPS_ENABLED:
      return Machine::Get()->config().mode == ShareMode::kShared ? 1 : 0;
    default:
      // Other features are missing, so their attributes are 0.
      return 0;
  }
}

std::string BusId(const Device& device) {
  char text[32];
  std::snprintf(text, sizeof text, "%08X:%02X:00.0", 0, static_cast<unsigned>(device.gpu + 1));
  return text;
}

void ParseUuid(const std::string& uuid, CUuuid* result) {
  std::size_t byte = 0;
  for (std::size_t i = 4; i + 1 < uuid.size() && byte < sizeof result->bytes; i += 2) {
    if (uuid[i] == '-') ++i;
    result->bytes[byte++] = static_cast<char>(std::stoi(uuid.substr(i, 2), nullptr, 16));
  }
}

struct ErrorText {
  CUresult code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
#define ERROR(name, text) {name, #name, text},
#include "simgpu/cuda/errors.def"
#undef ERROR
};

const ErrorText* FindError(CUresult code) {
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                   [=](const ErrorText& error) { return error.code == code; });
  return found == std::end(kErrors) ? nullptr : found;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) { return flags != 0 ? CUDA_ERROR_INVALID_VALUE : Initialize(); }

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

// Runtimes read undocumented tables of the driver, which do not exist here.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetErrorName(CUresult code, const char** name) {
  const ErrorText* error = FindError(code);
  *name = error == nullptr ? nullptr : error->name;
  return error == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  const ErrorText* error = FindError(code);
  *text = error == nullptr ? nullptr : error->text;
  return error == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(Devices().size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* result, int ordinal) {
  FIND_DEVICE(ordinal, device);
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  if (name == nullptr || bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, static_cast<std::size_t>(bytes), "%s", kDeviceName);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  ParseUuid(device->config.uuid, uuid);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) { return cuDeviceGetUuid_v2(uuid, ordinal); }

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = device->config.memory_mib << 20;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  if (value == nullptr || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  *value = Attribute(*device, attribute);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  *major = Attribute(*device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  *minor = Attribute(*device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int bytes, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  if (text == nullptr || bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(text, static_cast<std::size_t>(bytes), "%s", BusId(*device).c_str() + 4);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* result, const char* text) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  for (const auto& device : Devices()) {
    if (BusId(*device) == text || BusId(*device).substr(4) == text) {
      *result = device->ordinal;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice ordinal, CUdevice peer_ordinal) {
  FIND_DEVICE(ordinal, device);
  FIND_DEVICE(peer_ordinal, peer);
  *can = device != peer ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  FIND_DEVICE(from, device);
  FIND_DEVICE(to, peer);
  if (device == peer) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // extern "C"
