// Implements memory that can be mapped and shared: virtual memory management with POSIX descriptors, and
// legacy IPC handles.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/memory.h"
#include "simgpu/ipc/exported.h"
#include "simgpu/ipc/handle.h"
#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"

using namespace simgpu;

namespace {

constexpr std::size_t kPage = 2 << 20;  // granularity of mappings

// A Physical is physical memory, in a memfd. It lives while a handle or a mapping refers to it.
struct Physical {
  ScopedFd fd;
  std::size_t bytes;
  Device* device;
  std::size_t charged;  // 0 for memory that another process allocated
  CUmemAllocationProp properties;
  int handles = 1;  // guarded by ShareMutex()

  Physical(int descriptor, std::size_t size, Device* owner, std::size_t charge,
           const CUmemAllocationProp& prop)
      : fd(descriptor), bytes(size), device(owner), charged(charge), properties(prop) {}
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical() {
    if (charged != 0) Machine::Get()->ReturnMemory(device->gpu, charged);
  }
};

std::mutex& ShareMutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::map<CUdeviceptr, std::shared_ptr<Physical>>& Mappings() {
  static auto* mappings = new std::map<CUdeviceptr, std::shared_ptr<Physical>>;
  return *mappings;
}
std::map<CUdeviceptr, std::size_t>& Reservations() {
  static auto* reservations = new std::map<CUdeviceptr, std::size_t>;
  return *reservations;
}

std::shared_ptr<Physical> FindPhysical(CUmemGenericAllocationHandle handle) {
  return Handles<Physical>().Find(reinterpret_cast<const void*>(handle));
}

CUmemGenericAllocationHandle Publish(std::shared_ptr<Physical> physical) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(Handles<Physical>().Add(std::move(physical)));
}

// Counts imports. Returns whether this one fails by a fault.
bool ImportFails() {
  static std::atomic<long> imports{0};
  const long from = Faults().import_fails_after;
  return from >= 0 && imports.fetch_add(1) >= from;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  if (bytes == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = kPage;
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (handle == nullptr || properties == nullptr || flags != 0 || bytes == 0 || bytes % kPage != 0 ||
      properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  Device* device = FindDevice(properties->location.id);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (Faults().no_memory || !Machine::Get()->ChargeMemory(device->gpu, bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  const int fd = memfd_create("simgpu-memory", MFD_CLOEXEC);
  auto physical = std::make_shared<Physical>(fd, bytes, device, bytes, *properties);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = Publish(std::move(physical));
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const auto physical = FindPhysical(handle);
  if (physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(ShareMutex());
  if (--physical->handles == 0) Handles<Physical>().Remove(physical.get());
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t, CUdeviceptr,
                             unsigned long long flags) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (address == nullptr || bytes == 0 || bytes % kPage != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  void* memory = mmap(nullptr, bytes + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t aligned = (begin + kPage - 1) / kPage * kPage;
  if (aligned != begin) munmap(memory, aligned - begin);
  if (begin + kPage != aligned) munmap(reinterpret_cast<void*>(aligned + bytes), begin + kPage - aligned);
  *address = aligned;
  const std::lock_guard lock(ShareMutex());
  Reservations()[aligned] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  const std::lock_guard lock(ShareMutex());
  const auto found = Reservations().find(address);
  if (found == Reservations().end() || found->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  Reservations().erase(found);
  munmap(reinterpret_cast<void*>(address), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  const auto physical = FindPhysical(handle);
  if (physical == nullptr || flags != 0 || bytes == 0 || bytes % kPage != 0 ||
      offset + bytes > physical->bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::lock_guard lock(ShareMutex());
  const auto after = Reservations().upper_bound(address);
  if (after == Reservations().begin()) return CUDA_ERROR_INVALID_VALUE;
  const auto& [base, size] = *std::prev(after);
  if (address + bytes > base + size || Mappings().count(address) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->fd.get(),
           static_cast<off_t>(offset)) == MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Mappings()[address] = physical;
  Allocation memory;
  memory.base = address;
  memory.bytes = bytes;
  memory.kind = MemoryKind::kMapped;
  memory.device = physical->device;
  Enter(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  std::shared_ptr<Physical> last;  // destroyed after the lock is released
  const std::lock_guard lock(ShareMutex());
  const auto found = Mappings().find(address);
  if (found == Mappings().end()) return CUDA_ERROR_INVALID_VALUE;
  last = std::move(found->second);
  Mappings().erase(found);
  Withdraw(address, MemoryKind::kMapped);
  void* reserved = mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return reserved == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access, size_t count) {
  if (access == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  int protection = PROT_NONE;
  for (std::size_t i = 0; i < count; ++i) {
    if (access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ) protection |= PROT_READ;
    if (access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) protection |= PROT_READ | PROT_WRITE;
  }
  const std::lock_guard lock(ShareMutex());
  if (Mappings().count(address) == 0) return CUDA_ERROR_INVALID_VALUE;
  return mprotect(reinterpret_cast<void*>(address), bytes, protection) == 0 ? CUDA_SUCCESS
                                                                            : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation*, CUdeviceptr address) {
  const std::lock_guard lock(ShareMutex());
  if (flags == nullptr || Mappings().count(address) == 0) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* result, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  const auto physical = FindPhysical(handle);
  if (physical == nullptr || result == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  if ((physical->properties.requestedHandleTypes & type) == 0) return CUDA_ERROR_INVALID_VALUE;
  const int fd = fcntl(physical->fd.get(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *static_cast<int*>(result) = fd;
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* os_handle,
                                        CUmemAllocationHandleType type) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || ImportFails()) return CUDA_ERROR_NOT_SUPPORTED;
  const int fd = fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle)), F_DUPFD_CLOEXEC, 0);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0) {
    if (fd >= 0) close(fd);
    return CUDA_ERROR_INVALID_VALUE;
  }
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = type;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  const auto context = Current();
  Device* device = context != nullptr ? context->device : FindDevice(0);
  properties.location.id = device->ordinal;
  *handle = Publish(
      std::make_shared<Physical>(fd, static_cast<std::size_t>(status.st_size), device, 0, properties));
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  const std::lock_guard lock(ShareMutex());
  const auto found = Mappings().find(reinterpret_cast<CUdeviceptr>(address));
  if (handle == nullptr || found == Mappings().end()) return CUDA_ERROR_INVALID_VALUE;
  ++found->second->handles;
  *handle = Publish(found->second);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  const auto physical = FindPhysical(handle);
  if (physical == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *properties = physical->properties;
  return CUDA_SUCCESS;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* result, CUdeviceptr address) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  const auto memory = FindAllocation(address);
  if (result == nullptr || !memory || memory->kind != MemoryKind::kDevice) return CUDA_ERROR_INVALID_VALUE;
  const int fd = MakeShareable(*memory);
  if (fd < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  WriteIpcHandle(result, IpcKind::kMemory, fd, memory->mapped_bytes, address - memory->base);
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle raw, unsigned flags) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (address == nullptr || (flags & ~unsigned{CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  IpcHandle handle;
  crossover::base::UniqueFd fd;
  const CUresult opened = OpenIpcHandle(&raw, IpcKind::kMemory, CUDA_ERROR_INVALID_VALUE, &handle, &fd);
  if (opened != CUDA_SUCCESS) return opened;
  void* memory = mmap(nullptr, handle.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation allocation;
  allocation.base = reinterpret_cast<std::uintptr_t>(memory);
  allocation.bytes = allocation.mapped_bytes = handle.bytes;
  allocation.kind = MemoryKind::kMapped;
  const auto context = Current();
  allocation.device = context != nullptr ? context->device : FindDevice(0);
  Enter(allocation);
  *address = allocation.base + handle.offset;
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  const auto memory = FindAllocation(address);
  if (!memory || memory->kind != MemoryKind::kMapped || memory->mapped_bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  Withdraw(memory->base, MemoryKind::kMapped);
  munmap(reinterpret_cast<void*>(memory->base), memory->mapped_bytes);
  return CUDA_SUCCESS;
}

}  // extern "C"
