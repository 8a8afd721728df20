// A management library that knows one GPU and three processes: one of them only as a client of MPS.
#include <cstring>

extern "C" {

struct Info {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "an error"; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  static int gpu;
  *device = &gpu;
  return std::strcmp(uuid, "GPU-0") == 0 ? 0 : 6;
}

// More than any caller has room for at first.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Info* infos) {
  constexpr unsigned kProcesses = 100;
  const unsigned room = *count;
  *count = kProcesses;
  if (room < kProcesses) return 7;
  for (unsigned i = 0; i < kProcesses; ++i) infos[i] = {1000 + i, 10, 0, 0};
  infos[1].used_bytes = ~0ULL;  // not known
  return 0;
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void*, unsigned* count, Info* infos) {
  if (*count < 2) return 7;
  *count = 2;
  infos[0] = {1000, 30, 0, 0};
  infos[1] = {7, 40, 0, 0};
  return 0;
}

}  // extern "C"
