#include "deviceplugin/nvml/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "deviceplugin/nvml/numa.h"

namespace crossover::deviceplugin {
namespace {

// These types match nvml.h. NVML never changes the layout of an existing type: a new layout gets a new
// function.
using Device = struct nvmlDevice_st*;
using Result = int;
constexpr Result kSuccess = 0;
constexpr Result kInsufficientSize = 7;
constexpr unsigned long long kNotAvailable = ~0ULL;

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct PciInfo {
  char legacy_name[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned id;
  unsigned subsystem;
  char name[32];
};
static_assert(sizeof(PciInfo) == 68);
struct Utilization {
  unsigned gpu;  // percent
  unsigned memory;
};
constexpr unsigned kUuidBytes = 96;
constexpr unsigned kNameBytes = 96;

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  unsigned type;
  Result result;
  union {
    unsigned number;
    unsigned long long longest;
  } value;
};
static_assert(sizeof(FieldValue) == 40);
constexpr unsigned kRecoveryAction = 230;  // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION; its value 0: none
constexpr unsigned kDrainPeers = 3;        // NVML_GPU_RECOVERY_ACTION_DRAIN_P2P: no reset

using EventSet = struct nvmlEventSet_st*;
struct EventData {
  Device device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(EventData) == 32);
constexpr unsigned long long kXidEvent = 8;  // nvmlEventTypeXidCriticalError

using ListProcesses = Result (*)(Device device, unsigned* count, ProcessInfo* infos);

template <class Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// Puts the processes on `device` into *infos, by the function `list`. The buffer has some spare room, because
// processes may appear between two calls. Returns false if the driver refuses, or if the buffer is too small
// in all tries.
bool List(ListProcesses list, Device device, std::vector<ProcessInfo>* infos) {
  constexpr int kTries = 4;
  constexpr unsigned kSpare = 8;
  constexpr unsigned kMost = 1 << 16;
  infos->resize(64);
  for (int i = 0; i < kTries; ++i) {
    auto count = static_cast<unsigned>(infos->size());
    const Result result = list(device, &count, infos->data());
    if (result == kSuccess) {
      infos->resize(std::min<std::size_t>(count, infos->size()));
      return true;
    }
    if (result != kInsufficientSize || count > kMost) return false;
    infos->resize(count + kSpare);
  }
  return false;
}

}  // namespace

struct NvmlLibrary::Functions {
  void* library = nullptr;
  Result (*start)() = nullptr;
  Result (*stop)() = nullptr;
  const char* (*describe)(Result result) = nullptr;
  Result (*find)(const char* uuid, Device* device) = nullptr;
  ListProcesses list = nullptr;
  ListProcesses list_mps = nullptr;  // null: library too old
  bool started = false;
  bool inventories = false;  // the library has all functions from `count` to `memory`
  Result (*count)(unsigned* count) = nullptr;
  Result (*at)(unsigned index, Device* device) = nullptr;
  Result (*uuid)(Device device, char* text, unsigned bytes) = nullptr;
  Result (*name)(Device device, char* text, unsigned bytes) = nullptr;
  Result (*minor)(Device device, unsigned* minor) = nullptr;
  Result (*memory)(Device device, Memory* memory) = nullptr;
  Result (*pci)(Device device, PciInfo* info) = nullptr;                         // null: library too old
  Result (*utilization)(Device device, Utilization* utilization) = nullptr;      // null: library too old
  Result (*mig)(Device device, unsigned* current, unsigned* pending) = nullptr;  // null: library too old
  Result (*fields)(Device device, int count, FieldValue* values) = nullptr;      // null: library too old
  Result (*make_events)(EventSet* set) = nullptr;
  Result (*free_events)(EventSet set) = nullptr;
  Result (*watch_events)(Device device, unsigned long long types, EventSet set) = nullptr;
  Result (*await_event)(EventSet set, EventData* data, unsigned timeout_ms) = nullptr;
  EventSet events = nullptr;
  std::map<Device, std::string> watched;  // UUIDs, kept because a failing GPU may not tell its own any more

  ~Functions() {
    if (events != nullptr) free_events(events);
    if (started) stop();
    if (library != nullptr) dlclose(library);
  }
};

NvmlLibrary::NvmlLibrary(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}
NvmlLibrary::~NvmlLibrary() = default;

std::unique_ptr<NvmlLibrary> NvmlLibrary::Load(const std::string& name, std::string* error) {
  auto functions = std::make_unique<Functions>();
  functions->library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (functions->library == nullptr) {
    *error = dlerror();  // NOLINT(concurrency-mt-unsafe): each thread has its own error
    return nullptr;
  }
  void* library = functions->library;
  std::string missing;
  const auto need = [&](const char* function, auto* found) {
    if (!Find(library, function, found) && missing.empty()) missing = function;
  };
  need("nvmlInit_v2", &functions->start);
  need("nvmlShutdown", &functions->stop);
  need("nvmlErrorString", &functions->describe);
  need("nvmlDeviceGetHandleByUUID", &functions->find);
  need("nvmlDeviceGetComputeRunningProcesses_v3", &functions->list);
  if (!missing.empty()) {
    *error = name + ": it has no " + missing + ": the driver is too old, or this is not its library";
    return nullptr;
  }
  Find(library, "nvmlDeviceGetMPSComputeRunningProcesses_v3", &functions->list_mps);
  functions->inventories = Find(library, "nvmlDeviceGetCount_v2", &functions->count) &&
                           Find(library, "nvmlDeviceGetHandleByIndex_v2", &functions->at) &&
                           Find(library, "nvmlDeviceGetUUID", &functions->uuid) &&
                           Find(library, "nvmlDeviceGetName", &functions->name) &&
                           Find(library, "nvmlDeviceGetMinorNumber", &functions->minor) &&
                           Find(library, "nvmlDeviceGetMemoryInfo", &functions->memory);
  Find(library, "nvmlDeviceGetPciInfo_v3", &functions->pci);
  Find(library, "nvmlDeviceGetUtilizationRates", &functions->utilization);
  Find(library, "nvmlDeviceGetMigMode", &functions->mig);
  Find(library, "nvmlDeviceGetFieldValues", &functions->fields);
  Find(library, "nvmlEventSetCreate", &functions->make_events);
  Find(library, "nvmlEventSetFree", &functions->free_events);
  Find(library, "nvmlDeviceRegisterEvents", &functions->watch_events);
  Find(library, "nvmlEventSetWait_v2", &functions->await_event);
  if (const Result result = functions->start(); result != kSuccess) {
    *error = name + ": " + functions->describe(result);
    return nullptr;
  }
  functions->started = true;
  return std::unique_ptr<NvmlLibrary>(new NvmlLibrary(std::move(functions)));
}

std::optional<std::vector<NvmlLibrary::Gpu>> NvmlLibrary::Gpus() const {
  unsigned count = 0;
  if (!functions_->inventories || functions_->count(&count) != kSuccess) return std::nullopt;
  std::vector<Gpu> gpus;
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    char uuid[kUuidBytes] = {};
    char name[kNameBytes] = {};
    Memory memory{};
    Gpu gpu;
    if (functions_->at(index, &device) != kSuccess ||
        functions_->uuid(device, uuid, sizeof uuid - 1) != kSuccess ||
        functions_->minor(device, &gpu.minor) != kSuccess) {
      continue;  // the GPU has fallen off the bus
    }
    functions_->name(device, name, sizeof name - 1);
    if (functions_->memory(device, &memory) == kSuccess && memory.total > 0) gpu.memory_bytes = memory.total;
    unsigned now = 0;
    unsigned later = 0;
    gpu.mig = functions_->mig != nullptr && functions_->mig(device, &now, &later) == kSuccess && now != 0;
    FieldValue action{};
    action.field = kRecoveryAction;
    if (functions_->fields != nullptr && functions_->fields(device, 1, &action) == kSuccess &&
        action.result == kSuccess) {
      gpu.wants_reset = action.value.number != 0 && action.value.number != kDrainPeers;
    }
    if (PciInfo pci{}; functions_->pci != nullptr && functions_->pci(device, &pci) == kSuccess)
      gpu.numa = NumaNodeOf(PciName(pci.domain, pci.bus, pci.device));
    gpu.uuid = uuid;
    gpu.name = name;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::map<std::string, NvmlLibrary::Usage> NvmlLibrary::Usages() const {
  std::map<std::string, Usage> usages;
  const Functions& nvml = *functions_;
  unsigned count = 0;
  if (!nvml.inventories || nvml.count(&count) != kSuccess) return usages;
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    char uuid[kUuidBytes] = {};
    if (nvml.at(index, &device) != kSuccess || nvml.uuid(device, uuid, sizeof uuid - 1) != kSuccess) continue;
    Usage& usage = usages[uuid];
    if (Memory memory{}; nvml.memory(device, &memory) == kSuccess) {
      usage.memory_used = memory.used;
      usage.memory_total = memory.total;
    }
    if (Utilization now{}; nvml.utilization != nullptr && nvml.utilization(device, &now) == kSuccess)
      usage.busy = now.gpu / 100.0;
  }
  return usages;
}

bool NvmlLibrary::WatchXids() {
  Functions& nvml = *functions_;
  unsigned count = 0;
  if (nvml.events != nullptr) nvml.free_events(nvml.events);
  nvml.events = nullptr;
  nvml.watched.clear();
  if (!nvml.inventories || nvml.make_events == nullptr || nvml.free_events == nullptr ||
      nvml.watch_events == nullptr || nvml.await_event == nullptr || nvml.count(&count) != kSuccess ||
      nvml.make_events(&nvml.events) != kSuccess) {
    return false;
  }
  for (unsigned index = 0; index < count; ++index) {
    Device device = nullptr;
    char uuid[kUuidBytes] = {};
    if (nvml.at(index, &device) == kSuccess && nvml.uuid(device, uuid, sizeof uuid - 1) == kSuccess &&
        nvml.watch_events(device, kXidEvent, nvml.events) == kSuccess) {
      nvml.watched.emplace(device, uuid);
    }
  }
  if (!nvml.watched.empty()) return true;
  nvml.free_events(nvml.events);
  nvml.events = nullptr;
  return false;
}

bool NvmlLibrary::watches_xids() const { return functions_->events != nullptr; }

std::optional<NvmlLibrary::Xid> NvmlLibrary::NextXid(std::chrono::milliseconds patience) const {
  EventData event{};
  if (functions_->await_event(functions_->events, &event, static_cast<unsigned>(patience.count())) !=
          kSuccess ||
      (event.type & kXidEvent) == 0) {
    return std::nullopt;
  }
  const auto gpu = functions_->watched.find(event.device);
  if (gpu == functions_->watched.end()) return std::nullopt;
  return Xid{.gpu_uuid = gpu->second, .xid = static_cast<unsigned>(event.data)};
}

std::optional<NvmlLibrary::ProcessMemory> NvmlLibrary::Processes(const std::string& gpu_uuid) const {
  Device device = nullptr;
  if (functions_->find(gpu_uuid.c_str(), &device) != kSuccess) return std::nullopt;
  ProcessMemory processes;
  bool answered = false;
  for (const ListProcesses list : {functions_->list, functions_->list_mps}) {
    std::vector<ProcessInfo> infos;
    if (list == nullptr || !List(list, device, &infos)) continue;
    answered = true;
    for (const ProcessInfo& info : infos) {
      std::optional<std::uint64_t>& known = processes[static_cast<pid_t>(info.pid)];
      if (info.used_bytes == kNotAvailable) continue;
      // A process that is in both lists has the same value in both.
      known = std::max<std::uint64_t>(known.value_or(0), info.used_bytes);
    }
  }
  if (!answered) return std::nullopt;
  return processes;
}

std::optional<std::map<pid_t, std::uint64_t>> NvmlLibrary::MemoryByProcess(
    const std::string& gpu_uuid) const {
  const auto processes = Processes(gpu_uuid);
  if (!processes) return std::nullopt;
  std::map<pid_t, std::uint64_t> known;
  for (const auto& [pid, bytes] : *processes) {
    if (bytes) known.emplace(pid, *bytes);
  }
  return known;
}

}  // namespace crossover::deviceplugin
