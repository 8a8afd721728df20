#include "sidecar/session/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "common/base/job_environment.h"
#include "common/base/mutex.h"
#include "common/base/names.h"
#include "common/base/optional_libc.h"
#include "sidecar/log/log.h"

namespace crossover::session {
namespace {

static_assert(sizeof(Config::gang) == base::kLongestGang + 1);
static_assert(sizeof(Config::socket) == base::kLongestSocket + 1);

using Get = const char* (*)(const char* name);

// Returns the variable's value, or `otherwise` if it is not set. Returns null, and writes a line to the log,
// for a value that the variable's rule refuses.
const char* Read(Get get, const base::JobVariable& variable, const char* otherwise) {
  const char* value = get(variable.name);
  if (value == nullptr) value = otherwise;
  if (variable.allows(value)) return value;
  log::Write(
      log::Level::kError,
      "%s: expected %s, got %.64s; the job runs without taking turns, and no limit of its GPU memory holds",
      variable.name, variable.expected, value[0] == '\0' ? "\"\"" : value);
  return nullptr;
}

bool ReadLogLevel(Get get) {
  if (get(base::kLogLevel.name) == nullptr) return true;
  const char* value = Read(get, base::kLogLevel, "");
  if (value == nullptr) return false;
  constexpr const char* kNames[] = {"error", "warn", "info", "debug"};
  for (int level = 0; level < 4; ++level) {
    if (base::Same(value, kNames[level])) log::SetLevel(static_cast<log::Level>(level));
  }
  return true;
}

std::uint32_t PriorityOf(const char* allowed) {
  if (base::Same(allowed, "high")) return CROSSOVER_PRIORITY_HIGH;
  return base::Same(allowed, "low") ? CROSSOVER_PRIORITY_LOW : CROSSOVER_PRIORITY_NORMAL;
}

std::uint32_t TransportOf(const char* allowed) {
  if (base::Same(allowed, "relay")) return CROSSOVER_TRANSPORT_RELAYED_GATES;
  return base::Same(allowed, "host") ? CROSSOVER_TRANSPORT_HOST_GATES : CROSSOVER_TRANSPORT_GPU_GATES;
}

ipc::Wish WishOf(const char* set) {
  if (set == nullptr) return ipc::Wish::kAsOffered;
  return base::Same(set, "ipc") ? ipc::Wish::kAsked : ipc::Wish::kNever;
}

Config config;
constinit base::Mutex config_mutex;
constinit std::atomic<bool> config_read{false};

}  // namespace

Config ParseConfig(const char* (*get)(const char* name), bool (*exists)(const char* path)) {
  Config parsed;
  const char* gang = get(base::kGang.name);
  const bool named = gang != nullptr && gang[0] != '\0';
  if (base::IsOn(get("CROSSOVER_DISABLE"))) return parsed;
  // In a pod the environment names no gang: the daemon, which has put the folder of its socket there, knows
  // it. This checks for the folder, because the socket is missing while a daemon is replaced.
  const bool near_a_daemon = exists(base::kSocketDirectory);
  if (!named && !near_a_daemon) return parsed;
  gang = named ? Read(get, base::kGang, "") : "";
  if (gang == nullptr || !ReadLogLevel(get)) return parsed;
  const char* socket = Read(get, base::kSocket, base::kDefaultSocket);
  if (socket == nullptr) return parsed;
  strcpy(parsed.gang, gang);
  strcpy(parsed.socket, socket);
  if (get(base::kGangSize.name) != nullptr) {
    const char* size = Read(get, base::kGangSize, "");
    if (size == nullptr) return parsed;
    parsed.gang_size = static_cast<std::uint32_t>(base::GangSizeOf(size));
  }
  const char* gates = Read(get, base::kGates, "gpu");
  if (gates == nullptr) return parsed;
  parsed.transport = TransportOf(gates);
  parsed.signals = WishOf(get(base::kGates.name));
  const char* priority = Read(get, base::kPriority, "normal");
  if (priority == nullptr) return parsed;
  parsed.priority = PriorityOf(priority);
  if (get(base::kMaxSlowdown.name) != nullptr) {
    const char* slowdown = Read(get, base::kMaxSlowdown, "");
    if (slowdown == nullptr) return parsed;
    parsed.max_slowdown = base::SlowdownOf(slowdown);
  }
  // A pod's environment may take this value from the limit that the pod was granted. It is empty if the pod
  // was granted none.
  if (const char* set = get(base::kGpuMemory.name); set != nullptr && set[0] != '\0') {
    const char* bytes = Read(get, base::kGpuMemory, "");
    if (bytes == nullptr) return parsed;
    parsed.gpu_memory = base::GpuMemoryOf(bytes);
  }
  const char* at_waits = Read(get, base::kTurnsAtWaits, "0");
  if (at_waits == nullptr) return parsed;
  parsed.turns_at_waits = base::IsOn(at_waits);
  // The daemon may know a limit for each process in a pod. That includes a process that names a gang of its
  // own, and one whose environment was made before its pod was granted memory.
  parsed.asks_for_limit = near_a_daemon && parsed.gpu_memory == 0;
  parsed.launch_blocking = base::IsOn(get("CUDA_LAUNCH_BLOCKING"));
  parsed.one_connection = base::IsOneConnection(get("CUDA_DEVICE_MAX_CONNECTIONS"));
  parsed.active = true;
  return parsed;
}

int LauncherRank(const char* (*get)(const char* name), std::uint32_t ranks) {
  for (const char* name : {"RANK", "HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* text = get(name);
    if (text == nullptr || *text < '0' || *text > '9') continue;
    char* end = nullptr;
    const unsigned long rank = strtoul(text, &end, 10);
    return *end == '\0' && (ranks == 0 ? rank <= base::kMostRanks : rank < ranks) ? static_cast<int>(rank)
                                                                                  : 0;
  }
  return 0;
}

const Config& GetConfig() {
  if (config_read.load(std::memory_order_acquire)) return config;
  const base::Locked locked(config_mutex);
  if (config_read.load(std::memory_order_relaxed)) return config;
  log::Begin();
  config = ParseConfig([](const char* name) -> const char* { return getenv(name); },
                       [](const char* path) { return access(path, F_OK) == 0; });
  if (config.active && !base::ThreadsAreThere()) {
    log::Write(log::Level::kWarn,
               "this process takes no turns: this program was started without libpthread, which the library "
               "needs for its "
               "threads; no limit of its GPU memory holds either");
    config.active = false;
  }
  config_read.store(true, std::memory_order_release);
  return config;
}

}  // namespace crossover::session
