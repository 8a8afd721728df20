// Defines what the wrappers of allocating functions do around the real call. They record allocations in
// memory/accounting.h. They refuse what is over the limit with CUDA_ERROR_OUT_OF_MEMORY, as the driver
// refuses what it does not have, and they show the limit as the size of the GPU's memory. Each Run() calls
// the real function at most once, and not if the limit is reached.
#pragma once

#include <type_traits>

#include "common/base/mutex.h"
#include "sidecar/hooks/cuda_policies.h"
#include "sidecar/hooks/cuda_table.h"
#include "sidecar/memory/accounting.h"

namespace crossover::hooks {

// Returns whether this process counts memory. Learns its limit first, and blocks for about 200 ms at most
// while that is unknown. A call that allocates nothing asks Active() instead.
bool CountsMemory();
// Returns the device of the calling thread's context, or -1 if there is none; the accounting does not count
// -1.
std::int32_t CurrentDevice();
// Returns the key of the calling thread's context (KeyOfContext), or 0 if there is none.
std::uint64_t CurrentContext();
inline std::uint64_t KeyOfContext(CUcontext context) { return reinterpret_cast<std::uintptr_t>(context); }
inline std::uint64_t KeyOfPool(CUmemoryPool pool) { return reinterpret_cast<std::uintptr_t>(pool); }
// Records where the memory of a pool is. Does nothing for a pool without a location (managed memory).
void LearnPool(CUmemoryPool pool, const CUmemLocation& location);
// Writes a line to the log, once per process, that the limit was reached. `bytes` is the size that was
// refused.
void TellRefusal(std::size_t bytes);
// These functions return the bytes of an array, or 0 for a 3D array that gets its memory later (sparse,
// deferred mapping).
std::uint64_t BytesOf(const CUDA_ARRAY_DESCRIPTOR& array);
std::uint64_t BytesOf(const CUDA_ARRAY3D_DESCRIPTOR& array, unsigned levels = 1);

// A MemoryReservation is memory that the accounting has reserved for an allocation. Its destructor returns
// the memory unless Keep() or KeepHandle() was called. The thread cannot be cancelled in between: that would
// leave the accounting wrong.
class MemoryReservation {
 public:
  MemoryReservation(std::int32_t device, std::uint64_t bytes)
      : device_(device), bytes_(bytes), ok_(memory::TheAccounting().Reserve(device, bytes, &counted_)) {
    if (!ok_) TellRefusal(bytes);
  }
  ~MemoryReservation() {
    if (counted_ && !kept_) memory::TheAccounting().Return(device_, bytes_);
  }
  MemoryReservation(const MemoryReservation&) = delete;
  MemoryReservation& operator=(const MemoryReservation&) = delete;
  bool ok() const { return ok_; }

  template <typename Address>
  void Keep(Address address, std::uint64_t context = CurrentContext()) {
    kept_ = true;
    if (counted_) memory::TheAccounting().Keep((std::uint64_t)address, device_, bytes_, context);
  }
  void KeepHandle(CUmemGenericAllocationHandle handle) {
    kept_ = true;
    if (counted_) memory::TheAccounting().Create(handle, device_, bytes_);
  }

 private:
  const base::Uncancelled uncancelled_;
  const std::int32_t device_;
  const std::uint64_t bytes_;
  bool counted_ = false;  // declared before `ok_`, which sets it
  const bool ok_;
  bool kept_ = false;
};

// Records an allocation, and refuses one that is over the limit. Memory that is allocated on a stream belongs
// to the current pool of the device, so it stays allocated when the context is destroyed.
struct Allocate {
  template <CudaHook kHook, typename... Rest>
  static CUresult Run(CUdeviceptr* address, std::size_t bytes, Rest... rest) {
    constexpr bool kFromPool = (std::is_same_v<Rest, CUstream> || ...);
    if (address == nullptr || !CountsMemory()) return RealCuda<kHook>()(address, bytes, rest...);
    MemoryReservation room(CurrentDevice(), bytes);
    if (!room.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = RealCuda<kHook>()(address, bytes, rest...);
    if (result == CUDA_SUCCESS) room.Keep(*address, kFromPool ? 0 : CurrentContext());
    return result;
  }
};

// Counts an allocation from a pool that the program names. It counts on the GPU of that pool, and on no GPU
// if the pool is in memory of the host. An unknown pool counts as one of the current device.
struct AllocateFromPool {
  template <CudaHook kHook>
  static CUresult Run(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
    const auto real = RealCuda<kHook>();
    if (address == nullptr || !CountsMemory()) return real(address, bytes, pool, stream);
    std::int32_t device = memory::kOnHost;
    if (!memory::TheAccounting().FindPool(KeyOfPool(pool), &device)) device = CurrentDevice();
    if (device == memory::kOnHost) return real(address, bytes, pool, stream);
    MemoryReservation room(device, bytes);
    if (!room.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = real(address, bytes, pool, stream);
    if (result == CUDA_SUCCESS) room.Keep(*address, 0);
    return result;
  }
};

// These policies learn where pools are, from the calls that hand pools out.
struct CreatePool {
  template <CudaHook kHook>
  static CUresult Run(CUmemoryPool* pool, const CUmemPoolProps* properties) {
    const CUresult result = RealCuda<kHook>()(pool, properties);
    if (result == CUDA_SUCCESS) LearnPool(*pool, properties->location);
    return result;
  }
};
struct FindPool {
  template <CudaHook kHook>
  static CUresult Run(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
    const CUresult result = RealCuda<kHook>()(pool, location, type);
    if (result == CUDA_SUCCESS) LearnPool(*pool, *location);
    return result;
  }
};
struct FindPoolOfDevice {
  template <CudaHook kHook>
  static CUresult Run(CUmemoryPool* pool, CUdevice device) {
    const CUresult result = RealCuda<kHook>()(pool, device);
    if (result == CUDA_SUCCESS) LearnPool(*pool, {CU_MEM_LOCATION_TYPE_DEVICE, device});
    return result;
  }
};

// Forgets the pool before the driver can give its handle out again.
struct DestroyPool {
  template <CudaHook kHook>
  static CUresult Run(CUmemoryPool pool) {
    if (Active()) memory::TheAccounting().ForgetPool(KeyOfPool(pool));
    return RealCuda<kHook>()(pool);
  }
};

// Counts an allocation of rows. The driver chooses the width of a row, so the size is known only afterwards.
// This frees the allocation again if it then turns out to be over the limit.
struct AllocatePitch {
  template <CudaHook kHook>
  static CUresult Run(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                      unsigned element) {
    const auto real = RealCuda<kHook>();
    if (address == nullptr || pitch == nullptr || !CountsMemory())
      return real(address, pitch, width, height, element);
    const std::int32_t device = CurrentDevice();
    {
      const MemoryReservation least(device, width * height);
      if (!least.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
    }
    const CUresult result = real(address, pitch, width, height, element);
    if (result != CUDA_SUCCESS) return result;
    MemoryReservation room(device, *pitch * height);
    if (room.ok()) {
      room.Keep(*address);
      return result;
    }
    RealCuda<CudaHook::k_cuMemFree_v2>()(*address);
    *address = 0;
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
};

struct Free {
  template <CudaHook kHook, typename Address, typename... Rest>
  static CUresult Run(Address address, Rest... rest) {
    memory::Record record;
    if (!Active() || !memory::TheAccounting().Forget((std::uint64_t)address, &record))
      return RealCuda<kHook>()(address, rest...);
    const CUresult result = RealCuda<kHook>()(address, rest...);
    if (result == CUDA_SUCCESS) {
      memory::TheAccounting().Return(record.device, record.bytes);
    } else {
      memory::TheAccounting().Keep(record.key, record.device, record.bytes, record.context);
    }
    return result;
  }
};

struct CreateMemory {
  template <CudaHook kHook>
  static CUresult Run(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                      const CUmemAllocationProp* properties, unsigned long long flags) {
    const auto real = RealCuda<kHook>();
    if (handle == nullptr || properties == nullptr || !CountsMemory() ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
      return real(handle, bytes, properties, flags);
    MemoryReservation room(properties->location.id, bytes);
    if (!room.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = real(handle, bytes, properties, flags);
    if (result == CUDA_SUCCESS) room.KeepHandle(*handle);
    return result;
  }
};

struct ReleaseMemory {
  template <CudaHook kHook>
  static CUresult Run(CUmemGenericAllocationHandle handle) {
    if (Active()) memory::TheAccounting().Release(handle);
    return RealCuda<kHook>()(handle);
  }
};

struct RetainMemory {
  template <CudaHook kHook>
  static CUresult Run(CUmemGenericAllocationHandle* handle, void* address) {
    const CUresult result = RealCuda<kHook>()(handle, address);
    if (result == CUDA_SUCCESS && Active())
      memory::TheAccounting().Retain(*handle, reinterpret_cast<std::uintptr_t>(address));
    return result;
  }
};

struct MapMemory {
  template <CudaHook kHook>
  static CUresult Run(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                      CUmemGenericAllocationHandle handle, unsigned long long flags) {
    const bool counts = CountsMemory();
    if (counts && !memory::TheAccounting().ReserveMapping()) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = RealCuda<kHook>()(address, bytes, offset, handle, flags);
    if (counts && result == CUDA_SUCCESS) memory::TheAccounting().Map(address, bytes, handle);
    return result;
  }
};

struct UnmapMemory {
  template <CudaHook kHook>
  static CUresult Run(CUdeviceptr address, std::size_t bytes) {
    const CUresult result = RealCuda<kHook>()(address, bytes);
    if (result == CUDA_SUCCESS && Active()) memory::TheAccounting().Unmap(address, bytes);
    return result;
  }
};

struct CreateArray {
  template <CudaHook kHook, typename Array, typename Descriptor, typename... Levels>
  static CUresult Run(Array* array, const Descriptor* descriptor, Levels... levels) {
    if (array == nullptr || descriptor == nullptr || !CountsMemory())
      return RealCuda<kHook>()(array, descriptor, levels...);
    MemoryReservation room(CurrentDevice(), BytesOf(*descriptor, levels...));
    if (!room.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = RealCuda<kHook>()(array, descriptor, levels...);
    if (result == CUDA_SUCCESS) room.Keep(*array);
    return result;
  }
};

struct MemoryInfo {
  template <CudaHook kHook>
  static CUresult Run(std::size_t* free_bytes, std::size_t* total) {
    const CUresult result = RealCuda<kHook>()(free_bytes, total);
    const std::uint64_t limit = CountsMemory() ? memory::TheAccounting().limit() : 0;
    if (result != CUDA_SUCCESS || limit == 0) return result;
    const std::uint64_t used = memory::TheAccounting().used(CurrentDevice());
    if (free_bytes != nullptr) *free_bytes = Least(*free_bytes, limit - Least(limit, used));
    if (total != nullptr) *total = Least(*total, limit);
    return result;
  }
  static std::uint64_t Least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }
};

struct TotalMemory {
  template <CudaHook kHook>
  static CUresult Run(std::size_t* bytes, CUdevice device) {
    const CUresult result = RealCuda<kHook>()(bytes, device);
    const std::uint64_t limit = CountsMemory() ? memory::TheAccounting().limit() : 0;
    if (result == CUDA_SUCCESS && limit != 0) *bytes = MemoryInfo::Least(*bytes, limit);
    return result;
  }
};

// Handles the end of a context: all that was allocated in it is gone.
struct DestroyContext {
  template <CudaHook kHook>
  static CUresult Run(CUcontext context) {
    if (context != nullptr) BeforeContextEnds(context);
    const CUresult result = RealCuda<kHook>()(context);
    if (result == CUDA_SUCCESS) EndCapturesIn(context);
    if (result == CUDA_SUCCESS && Active()) memory::TheAccounting().End(KeyOfContext(context));
    return result;
  }
};

// Handles a reset of a device: all that was allocated in its primary context is gone.
struct ResetContext {
  template <CudaHook kHook>
  static CUresult Run(CUdevice device) {
    BeforeDeviceReset(device);
    const CUresult result = RealCuda<kHook>()(device);
    if (result == CUDA_SUCCESS) EndCapturesOn(device);
    if (result == CUDA_SUCCESS && Active()) memory::TheAccounting().Reset(device);
    return result;
  }
};

}  // namespace crossover::hooks
