#include "simgpu/machine/machine.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "common/base/refusal.h"
#include "simgpu/machine/os.h"
#include "simgpu/machine/state.h"

namespace simgpu {
namespace {

std::string& LastError() {
  static std::string* error = new std::string;  // outlives static destruction
  return *error;
}

bool MakeDirectory(const std::string& path, std::string* error) {
  if (mkdir(path.c_str(), 0777) == 0) {
    chmod(path.c_str(), 0777);  // any user may use the GPUs, whatever the umask of the first process
    return true;
  }
  if (errno == EEXIST) return true;
  *error = "state: cannot make '" + path + "': " + std::strerror(errno);
  return false;
}

bool ReadNode(const MachineConfig& config, int* node, std::string* error) {
  *node = config.node;
  const char* text = std::getenv("SIMGPU_NODE");
  if (text == nullptr || *text == '\0') return true;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 0 || value >= static_cast<long>(config.nodes.size())) {
    *error = crossover::base::Refusal(
        "SIMGPU_NODE", "a node's number from 0 to " + std::to_string(config.nodes.size() - 1), text);
    return false;
  }
  *node = static_cast<int>(value);
  return true;
}

// Links have these places: node links first, then GPU links; never 0.
std::uint32_t NodeLinkPlace(int node, Direction direction) {
  return 1 + 2 * static_cast<std::uint32_t>(node) + (direction == Direction::kIn ? 1 : 0);
}
std::uint32_t GpuLinkPlace(int global_gpu) { return 1000 + static_cast<std::uint32_t>(global_gpu); }

// Returns how the SMs of a GPU are shared.
ShareRules RulesOf(const MachineConfig& config, const GpuConfig& gpu) {
  return {.mode = config.mode,
          .capacity = static_cast<double>(gpu.sms),
          .quantum = config.quantum_us * kMicrosecond,
          .co_run = config.co_run,
          .holders_wait = config.collectives_wait,
          .holder_slowdown = config.collective_slowdown,
          .switch_cost = config.switch_us * kMicrosecond,
          .blocked_price = static_cast<double>(config.blocked_wait_ns),
          .blocked_device_price = static_cast<double>(config.blocked_device_wait_ns)};
}

}  // namespace

Machine* Machine::Get() {
  static std::once_flag once;
  static Machine* machine = nullptr;
  std::call_once(once, [] {
    auto attached = std::unique_ptr<Machine>(new Machine);
    if (attached->Attach(&LastError())) {
      machine = attached.release();  // never destroyed: threads use it until the process ends
    } else {
      std::fprintf(stderr, "simgpu: %s\n", LastError().c_str());
    }
  });
  return machine;
}

const std::string& Machine::error() { return LastError(); }

bool Machine::Attach(std::string* error) {
  std::optional<MachineConfig> config = LoadMachineConfig(error);
  if (!config || !ReadNode(*config, &node_, error)) return false;
  config_ = *config;
  if (!MakeDirectory(config_.state, error) || !MakeDirectory(config_.state + "/clients", error)) return false;
  const std::string path = config_.state + "/state";
  const ScopedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  fchmod(fd.get(), 0666);  // fails if the file is another user's, who has done this already
  // The file lock lets one process at a time attach.
  if (!fd || flock(fd.get(), LOCK_EX) != 0) {
    *error = "state: cannot open '" + path + "': " + std::strerror(errno);
    return false;
  }
  const bool attached = MapState(fd.get(), error) && clients_.Claim(state_, config_.state, error);
  flock(fd.get(), LOCK_UN);  // closing would not unlock: the mapping keeps the file open
  return attached;
}

bool Machine::MapState(int fd, std::string* error) {
  constexpr auto kBytes = static_cast<off_t>(sizeof(SharedState));
  struct stat status {};
  if (fstat(fd, &status) != 0 || (status.st_size != kBytes && ftruncate(fd, kBytes) != 0)) {
    *error = "state: cannot size '" + config_.state + "/state': " + std::strerror(errno);
    return false;
  }
  void* memory = mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    *error = "state: cannot map '" + config_.state + "/state': " + std::strerror(errno);
    return false;
  }
  state_ = static_cast<SharedState*>(memory);
  clients_.Use(state_, config_.state);
  const bool ours = state_->magic == kStateMagic && state_->version == kStateVersion &&
                    state_->bytes == sizeof(SharedState) && state_->digest == Digest(config_);
  bool alive = false;
  for (int entry = 0; entry < kMaxClients && state_->magic == kStateMagic; ++entry) {
    alive = alive || (state_->clients[entry].token != 0 && !clients_.EntryIsDead(entry));
  }
  if (alive && !ours) {
    *error = "state: '" + config_.state + "' is in use by a machine of another shape, or of another version";
    return false;
  }
  if (!alive) {
    // No process is alive: what the file holds is left over, perhaps from another boot.
    if (ftruncate(fd, 0) != 0 || ftruncate(fd, kBytes) != 0) return false;
    ResetState();
  }
  return true;
}

void Machine::ResetState() {
  int global = 0;
  for (const NodeConfig& node : config_.nodes) {
    for (const GpuConfig& gpu : node.gpus) {
      SharedGpu& shared = state_->gpus[global++];
      shared.memory_bytes = gpu.memory_mib << 20;
      shared.compute.fluid.Reset(RulesOf(config_, gpu), MonotonicNow());
    }
  }
  state_->version = kStateVersion;
  state_->bytes = sizeof(SharedState);
  state_->digest = Digest(config_);
  state_->magic = kStateMagic;
}

int Machine::GlobalGpu(int node, int gpu) const {
  int global = gpu;
  for (int i = 0; i < node; ++i)
    global += static_cast<int>(config_.nodes[static_cast<std::size_t>(i)].gpus.size());
  return global;
}

bool Machine::FindGpu(const std::string& uuid, int* node, int* gpu) const {
  for (std::size_t n = 0; n < config_.nodes.size(); ++n) {
    for (std::size_t g = 0; g < config_.nodes[n].gpus.size(); ++g) {
      if (config_.nodes[n].gpus[g].uuid != uuid) continue;
      *node = static_cast<int>(n);
      *gpu = static_cast<int>(g);
      return true;
    }
  }
  return false;
}

SharedGpu* Machine::Gpu(int gpu) const { return &state_->gpus[GlobalGpu(node_, gpu)]; }

std::unique_ptr<Flow> Machine::Open(SharedCapacity* capacity, double limit, double demand,
                                    double work_per_ns) {
  Lock(capacity);
  const int tenant = capacity->fluid.Add(clients_.token(), limit);
  Unlock(capacity);
  if (tenant < 0) return nullptr;
  return std::unique_ptr<Flow>(new Flow(this, capacity, tenant, demand, work_per_ns));
}

std::unique_ptr<Flow> Machine::OpenGpu(int gpu, double limit) {
  return Open(&Gpu(gpu)->compute, limit, node_config().gpus[static_cast<std::size_t>(gpu)].sms, 1.0);
}

std::unique_ptr<Flow> Machine::OpenLink(std::uint32_t place, std::uint64_t communicator, double bytes_per_s) {
  if (!config_.private_links) communicator = 0;
  LockShared(&state_->links_lock, clients_.token(), &clients_);
  SharedCapacity* link = nullptr;
  for (SharedCapacity& entry : state_->links) {
    if (entry.place == place && entry.communicator == communicator) {
      link = &entry;
      break;
    }
    if (link == nullptr && (entry.place == 0 || entry.fluid.Tenants() == 0)) link = &entry;
  }
  std::unique_ptr<Flow> flow;
  if (link != nullptr) {
    if (link->place != place || link->communicator != communicator) {
      link->fluid.Reset({.capacity = bytes_per_s}, MonotonicNow());
      link->communicator = communicator;
      link->place = place;
    }
    flow = Open(link, Fluid::kUnlimited, bytes_per_s, 0);
  }
  UnlockShared(&state_->links_lock);
  return flow;
}

std::unique_ptr<Flow> Machine::OpenNodeLink(Direction direction, std::uint64_t communicator) {
  return OpenLink(NodeLinkPlace(node_, direction), communicator, config_.node_link_bytes_per_s);
}

std::unique_ptr<Flow> Machine::OpenGpuLink(int gpu, std::uint64_t communicator) {
  return OpenLink(GpuLinkPlace(GlobalGpu(node_, gpu)), communicator, config_.gpu_link_bytes_per_s);
}

bool Machine::ChargeMemory(int gpu, std::uint64_t bytes) {
  SharedGpu* shared = Gpu(gpu);
  for (const bool last_chance : {false, true}) {
    if (last_chance) ReapDead(true);
    Lock(&shared->compute);
    std::uint64_t used = 0;
    for (const std::uint64_t by_client : shared->used_bytes) used += by_client;
    const bool fits = bytes <= shared->memory_bytes && used <= shared->memory_bytes - bytes;
    if (fits) shared->used_bytes[clients_.entry()] += bytes;
    Unlock(&shared->compute);
    if (fits) return true;
  }
  return false;
}

void Machine::ReturnMemory(int gpu, std::uint64_t bytes) {
  SharedGpu* shared = Gpu(gpu);
  Lock(&shared->compute);
  shared->used_bytes[clients_.entry()] -= bytes;
  Unlock(&shared->compute);
}

std::uint64_t Machine::UsedMemory(int gpu) {
  ReapDead(true);
  SharedGpu* shared = Gpu(gpu);
  Lock(&shared->compute);
  std::uint64_t used = 0;
  for (const std::uint64_t by_client : shared->used_bytes) used += by_client;
  Unlock(&shared->compute);
  return used;
}

std::map<pid_t, std::uint64_t> Machine::UsedMemoryByProcess(int gpu) {
  ReapDead(true);
  SharedGpu* shared = Gpu(gpu);
  std::array<std::uint64_t, kMaxClients> used{};
  Lock(&shared->compute);
  std::copy(std::begin(shared->used_bytes), std::end(shared->used_bytes), used.begin());
  Unlock(&shared->compute);
  std::map<pid_t, std::uint64_t> by_process;
  for (int entry = 0; entry < kMaxClients; ++entry) {
    const std::uint64_t bytes = used[static_cast<std::size_t>(entry)];
    const pid_t pid = bytes == 0 ? 0 : clients_.PidOf(entry);
    if (pid != 0) by_process[pid] += bytes;
  }
  return by_process;
}

Nanos Machine::BusyTime(int gpu) {
  SharedGpu* shared = Gpu(gpu);
  Lock(&shared->compute);
  const Nanos busy = shared->compute.fluid.busy();
  Unlock(&shared->compute);
  return busy;
}

Nanos Machine::WorkTime(int gpu) {
  SharedGpu* shared = Gpu(gpu);
  Lock(&shared->compute);
  const Nanos worked = shared->compute.fluid.worked();
  Unlock(&shared->compute);
  return worked;
}

Nanos Machine::NodeLinkTime(Direction direction) { return LinkTime(NodeLinkPlace(node_, direction)); }

Nanos Machine::GpuLinkTime(int gpu) { return LinkTime(GpuLinkPlace(GlobalGpu(node_, gpu))); }

Nanos Machine::LinkTime(std::uint32_t place) {
  Nanos time = 0;
  LockShared(&state_->links_lock, clients_.token(), &clients_);
  for (SharedCapacity& link : state_->links) {
    if (link.place != place) continue;
    Lock(&link);
    time += link.fluid.busy();
    Unlock(&link);
  }
  UnlockShared(&state_->links_lock);
  return time;
}

}  // namespace simgpu
