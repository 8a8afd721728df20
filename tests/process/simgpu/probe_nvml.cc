// Prints what a node agent sees: what NVML reports of the GPUs, and one health event. The argument is the
// state directory.
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
  OK(nvmlDeviceGetMigMode(device, &current, &pending));
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
  std::printf("%u %s %llu %u %llu\n", count, uuid, memory.used, process[0].pid, process[0].usedGpuMemory);
  return 0;
}
