// Prints what a node agent sees: what NVML reports of the GPUs, and one health event. The argument is the
// state directory.
#include <dlfcn.h>
#include <nvml.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace {

int Fail(int line, nvmlReturn_t result) {
  std::fprintf(stderr, "line %d: %s\n", line, nvmlErrorString(result));
  return 1;
}

// Calls what PyTorch binds beside the calls below. Returns the line that does not hold, or 0.
int CheckFabric(nvmlDevice_t device, nvmlDevice_t other) {
#define MUST_BE(wanted, call) \
  if (call != wanted) return __LINE__
  int version = 0;
  MUST_BE(NVML_SUCCESS, nvmlSystemGetCudaDriverVersion_v2(&version));
  if (version != 13000) return __LINE__;
  nvmlIntNvLinkDeviceType_t type{};
  nvmlPciInfo_t pci{};
  MUST_BE(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetNvLinkRemoteDeviceType(device, 0, &type));
  MUST_BE(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetNvLinkRemotePciInfo_v2(device, 0, &pci));
  MUST_BE(NVML_ERROR_INVALID_ARGUMENT,
          nvmlDeviceGetNvLinkRemoteDeviceType(device, NVML_NVLINK_MAX_LINKS, &type));
  nvmlGpuFabricInfo_v3_t info{};
  for (const unsigned layout : {nvmlGpuFabricInfo_v2, nvmlGpuFabricInfo_v3}) {
    info.version = layout;
    info.state = NVML_GPU_FABRIC_STATE_COMPLETED;
    info.healthSummary = 77;
    MUST_BE(NVML_SUCCESS, nvmlDeviceGetGpuFabricInfoV(device, &info));
    if (info.version != layout || info.state != NVML_GPU_FABRIC_STATE_NOT_SUPPORTED) return __LINE__;
    // The second layout ends before this field.
    if (info.healthSummary != (layout == nvmlGpuFabricInfo_v2 ? 77 : 0)) return __LINE__;
  }
  info.version = 1;
  MUST_BE(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, nvmlDeviceGetGpuFabricInfoV(device, &info));
  nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_UNKNOWN;
  MUST_BE(NVML_SUCCESS, nvmlDeviceGetP2PStatus(device, other, NVML_P2P_CAPS_INDEX_READ, &status));
  if (status != (device != other ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED)) return __LINE__;
  MUST_BE(NVML_SUCCESS, nvmlDeviceGetP2PStatus(device, other, NVML_P2P_CAPS_INDEX_NVLINK, &status));
  if (status != NVML_P2P_STATUS_NOT_SUPPORTED) return __LINE__;
#undef MUST_BE
  return 0;
}

// Asks for the processes on a device by the oldest name, whose entries are 16 bytes long. The header has that
// name only if it does not rename it. Returns the PID and the bytes of the only one, or zeros.
nvmlProcessInfo_v1_t OnlyProcess(nvmlDevice_t device) {
  using Old = nvmlReturn_t (*)(nvmlDevice_t, unsigned*, nvmlProcessInfo_v1_t*);
  const auto list = reinterpret_cast<Old>(dlsym(RTLD_DEFAULT, "nvmlDeviceGetComputeRunningProcesses"));
  nvmlProcessInfo_v1_t found[2] = {};
  unsigned count = 2;
  if (list == nullptr || list(device, &count, found) != NVML_SUCCESS || count != 1) return {};
  return found[0];
}

}  // namespace

#define OK(call) \
  if (const nvmlReturn_t result_ = (call); result_ != NVML_SUCCESS) return Fail(__LINE__, result_)

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  unsigned count = 0, current = 1, pending = 1;
  if (nvmlDeviceGetCount(&count) != NVML_ERROR_UNINITIALIZED) return Fail(__LINE__, NVML_SUCCESS);
  OK(nvmlInit());
  OK(nvmlDeviceGetCount(&count));
  nvmlDevice_t device, same;
  OK(nvmlDeviceGetHandleByIndex(count - 1, &device));
  char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
  OK(nvmlDeviceGetUUID(device, uuid, sizeof uuid));
  OK(nvmlDeviceGetHandleByUUID(uuid, &same));
  nvmlMemory_t memory{};
  OK(nvmlDeviceGetMemoryInfo(device, &memory));
  unsigned processes = 0;
  if (nvmlDeviceGetComputeRunningProcesses(device, &processes, nullptr) != NVML_ERROR_INSUFFICIENT_SIZE ||
      processes != 1) {
    return Fail(__LINE__, NVML_SUCCESS);
  }
  nvmlProcessInfo_t process[4] = {};
  processes = 4;
  OK(nvmlDeviceGetComputeRunningProcesses(device, &processes, process));
  if (processes != 1) return Fail(__LINE__, NVML_SUCCESS);
  const nvmlProcessInfo_v1_t old = OnlyProcess(device);
  if (old.pid != process[0].pid || old.usedGpuMemory != process[0].usedGpuMemory)
    return Fail(__LINE__, NVML_SUCCESS);
  nvmlDevice_t first;
  OK(nvmlDeviceGetHandleByIndex(0, &first));
  if (const int line = CheckFabric(device, first); line != 0) return Fail(line, NVML_SUCCESS);
  OK(nvmlDeviceGetMigMode(device, &current, &pending));
  nvmlComputeMode_t mode;
  OK(nvmlDeviceGetComputeMode(device, &mode));
  if (same != device || current != 0 || memory.total != 81920ULL << 20) return Fail(__LINE__, NVML_SUCCESS);
  nvmlEventSet_t set;
  OK(nvmlEventSetCreate(&set));
  OK(nvmlDeviceRegisterEvents(device, nvmlEventTypeXidCriticalError, set));
  nvmlEventData_t event{};
  if (nvmlEventSetWait(set, &event, 0) != NVML_ERROR_TIMEOUT) return Fail(__LINE__, NVML_SUCCESS);
  std::ofstream(std::string(argv[1]) + "/health", std::ios::app) << uuid << " xid 79\n";
  OK(nvmlEventSetWait(set, &event, 10000));
  if (event.device != device || event.eventData != 79) return Fail(__LINE__, NVML_SUCCESS);
  OK(nvmlEventSetFree(set));
  OK(nvmlShutdown());
  std::printf("%u %s %llu %u %llu %d\n", count, uuid, memory.used, process[0].pid, process[0].usedGpuMemory,
              static_cast<int>(mode));
  return 0;
}
