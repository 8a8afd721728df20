// Stands in for the management library (NVML). It knows a hundred processes, one more as a client of MPS
// alone, and up to two GPUs. A test can say what becomes of the GPUs.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

std::atomic<unsigned> gpus{2};
std::atomic<unsigned> lost{0};         // the second GPU does not answer
std::atomic<unsigned> wants_reset{0};  // the first GPU wants a reset
std::atomic<unsigned> old{0};          // a GPU does not say whether it wants a reset
std::atomic<unsigned> xid{0};          // an error of the first GPU, for the next caller that waits
std::atomic<unsigned> no_memory{0};    // 1: no GPU tells its memory; 2: each says that it has none
std::atomic<unsigned> starts{0};
int gpu[2];

}  // namespace

extern "C" {

void fake_nvml_gpus(unsigned count) { gpus = count; }
void fake_nvml_lost(unsigned is) { lost = is; }
void fake_nvml_wants_reset(unsigned is) { wants_reset = is; }
void fake_nvml_old(unsigned is) { old = is; }
void fake_nvml_no_memory(unsigned how) { no_memory = how; }
void fake_nvml_xid(unsigned number) { xid = number; }

struct Info {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

unsigned fake_nvml_starts() { return starts; }

int nvmlInit_v2() {
  ++starts;
  return 0;
}
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "an error"; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &gpu[0];
  return std::strcmp(uuid, "GPU-0") == 0 ? 0 : 6;
}

// Returns more processes than any caller has room for at first.
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

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &gpu[index];
  return index == 1 && lost != 0 ? 15 : 0;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned bytes) {
  std::snprintf(uuid, bytes, "GPU-%d", device == &gpu[0] ? 0 : 1);
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned bytes) {
  std::snprintf(name, bytes, "a GPU");
  return 0;
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* minor) {
  *minor = device == &gpu[0] ? 0 : 1;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  if (no_memory == 1) return 3;
  memory[0] = no_memory == 2 ? 0 : 1 << 30;
  memory[1] = 3 << 28;
  memory[2] = 1 << 28;
  return 0;
}
// Answers for the first GPU alone.
int nvmlDeviceGetUtilizationRates(void* device, unsigned* percent) {
  percent[0] = 75;
  percent[1] = 0;
  return device == &gpu[0] ? 0 : 3;
}

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int result;
  unsigned long long value;
};
int nvmlDeviceGetFieldValues(void* device, int, FieldValue* values) {
  values->result = values->field == 230 && old == 0 ? 0 : 3;
  values->value = device == &gpu[0] ? wants_reset.load() : 0;
  return 0;
}

struct EventData {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
int nvmlEventSetCreate(void** set) {
  *set = &gpu;
  return 0;
}
int nvmlEventSetFree(void*) { return 0; }
int nvmlDeviceRegisterEvents(void*, unsigned long long types, void*) { return types == 8 ? 0 : 3; }
int nvmlEventSetWait_v2(void*, EventData* data, unsigned timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    if (const unsigned number = xid.exchange(0); number != 0) {
      *data = {&gpu[0], 8, number, ~0u, ~0u};
      return 0;
    }
    if (std::chrono::steady_clock::now() >= end) return 10;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // extern "C"
