#include "simgpu/cuda/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <shared_mutex>

#include "simgpu/cuda/context.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/ipc/exported.h"
#include "simgpu/machine/machine.h"

namespace simgpu {
namespace {

struct Registry {
  std::shared_mutex mutex;
  std::map<std::uintptr_t, Allocation> by_base;
  std::uint64_t next_id = 1;
};

Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

constexpr std::size_t kGranule = 512;  // a GPU's allocator rounds sizes up to this

std::size_t RoundUp(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void Enter(const Allocation& allocation) {
  Registry& registry = TheRegistry();
  const std::unique_lock lock(registry.mutex);
  Allocation& entry = registry.by_base[allocation.base] = allocation;
  entry.id = registry.next_id++;
}

std::optional<Allocation> Withdraw(std::uintptr_t base, MemoryKind kind) {
  Registry& registry = TheRegistry();
  const std::unique_lock lock(registry.mutex);
  const auto found = registry.by_base.find(base);
  if (found == registry.by_base.end() || found->second.kind != kind) return std::nullopt;
  const Allocation allocation = found->second;
  registry.by_base.erase(found);
  return allocation;
}

std::optional<Allocation> FindAllocation(std::uintptr_t address) {
  Registry& registry = TheRegistry();
  const std::shared_lock lock(registry.mutex);
  auto after = registry.by_base.upper_bound(address);
  if (after == registry.by_base.begin()) return std::nullopt;
  const Allocation& allocation = std::prev(after)->second;
  if (address - allocation.base >= allocation.bytes) return std::nullopt;
  return allocation;
}

CUresult Allocate(Device* device, std::size_t bytes, MemoryKind kind, unsigned flags, CUdeviceptr* address) {
  if (bytes == 0 || bytes > std::size_t{1} << 46) {
    return bytes == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
  }
  Allocation allocation;
  allocation.kind = kind;
  allocation.device = kind == MemoryKind::kHost ? nullptr : device;
  allocation.bytes = bytes;
  allocation.flags = flags;
  allocation.charged = kind == MemoryKind::kHost ? 0 : RoundUp(bytes, kGranule);
  allocation.mapped_bytes = RoundUp(bytes, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  if (allocation.charged != 0 &&
      (Faults().no_memory || !Machine::Get()->ChargeMemory(device->gpu, allocation.charged))) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  void* memory = mmap(nullptr, allocation.mapped_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    if (allocation.charged != 0) Machine::Get()->ReturnMemory(device->gpu, allocation.charged);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  allocation.base = reinterpret_cast<std::uintptr_t>(memory);
  Enter(allocation);
  *address = allocation.base;
  return CUDA_SUCCESS;
}

CUresult Free(CUdeviceptr address, bool host) {
  std::optional<Allocation> allocation;
  if (host) {
    allocation = Withdraw(address, MemoryKind::kHost);
  } else {
    allocation = Withdraw(address, MemoryKind::kDevice);
    if (!allocation) allocation = Withdraw(address, MemoryKind::kManaged);
  }
  if (!allocation) return CUDA_ERROR_INVALID_VALUE;
  EndSharing(*allocation);
  munmap(reinterpret_cast<void*>(allocation->base), allocation->mapped_bytes);
  if (allocation->charged != 0) Machine::Get()->ReturnMemory(allocation->device->gpu, allocation->charged);
  return CUDA_SUCCESS;
}

CUresult RegisterHost(void* address, std::size_t bytes, unsigned flags) {
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Allocation allocation;
  allocation.base = reinterpret_cast<std::uintptr_t>(address);
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::kRegistered;
  allocation.flags = flags;
  Registry& registry = TheRegistry();
  const std::unique_lock lock(registry.mutex);
  const auto after = registry.by_base.lower_bound(allocation.base + bytes);
  if (after != registry.by_base.begin()) {
    const Allocation& before = std::prev(after)->second;
    if (before.base + before.bytes > allocation.base) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  allocation.id = registry.next_id++;
  registry.by_base[allocation.base] = allocation;
  return CUDA_SUCCESS;
}

CUresult UnregisterHost(void* address) {
  return Withdraw(reinterpret_cast<std::uintptr_t>(address), MemoryKind::kRegistered)
             ? CUDA_SUCCESS
             : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

}  // namespace simgpu
