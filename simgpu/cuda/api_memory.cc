// Implements allocation, host memory and the attributes of pointers.
#include <algorithm>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/memory.h"
#include "simgpu/machine/machine.h"

using namespace simgpu;

#define REQUIRE_CONTEXT(context)    \
  std::shared_ptr<Context> context; \
  if (const CUresult required_ = RequireContext(&context); required_ != CUDA_SUCCESS) return required_

namespace {

struct MemoryPool {
  Device* device;
};

CUresult AllocateFor(MemoryKind kind, std::size_t bytes, unsigned flags, CUdeviceptr* address) {
  REQUIRE_CONTEXT(context);
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  return Allocate(context->device, bytes, kind, flags, address);
}

CUresult AttributeOf(CUpointer_attribute attribute, CUdeviceptr address, void* value) {
  const auto memory = FindAllocation(address);
  if (!memory) return CUDA_ERROR_INVALID_VALUE;
  const bool on_host = memory->kind == MemoryKind::kHost || memory->kind == MemoryKind::kRegistered;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = reinterpret_cast<CUcontext>(Current().get());
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && !on_host &&
          memory->kind != MemoryKind::kManaged) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      *static_cast<CUdeviceptr*>(value) = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(value) = memory->id;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = memory->kind == MemoryKind::kManaged ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: {
      const auto context = Current();
      const Device* device = memory->device != nullptr ? memory->device : context ? context->device : nullptr;
      *static_cast<int*>(value) = device != nullptr ? device->ordinal : 0;
      return CUDA_SUCCESS;
    }
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<unsigned*>(value) = memory->kind == MemoryKind::kDevice ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = memory->base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = memory->bytes;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<unsigned*>(value) = 1;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      *static_cast<unsigned*>(value) = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  REQUIRE_CONTEXT(context);
  const std::size_t all = context->device->config.memory_mib << 20;
  const std::size_t used = Machine::Get()->UsedMemory(context->device->gpu);
  if (free_bytes != nullptr) *free_bytes = all - std::min(all, used);
  if (total != nullptr) *total = all;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return AllocateFor(MemoryKind::kDevice, bytes, 0, address);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  if (pitch == nullptr || (element != 4 && element != 8 && element != 16)) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + 511) / 512 * 512;
  return cuMemAlloc_v2(address, *pitch * height);
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  return AllocateFor(MemoryKind::kManaged, bytes, flags, address);
}

// Waits until all work of the context is done, as the real call does, and then frees.
CUresult cuMemFree_v2(CUdeviceptr address) {
  REQUIRE_CONTEXT(context);
  if (address == 0) return CUDA_SUCCESS;
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  WaitForAll(context);
  return Free(address, false);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream handle) {
  StreamPtr stream;
  if (const CUresult error = FindStream(handle, &stream); error != CUDA_SUCCESS) return error;
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
  return Allocate(stream->device, bytes, MemoryKind::kDevice, 0, address);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  StreamPtr stream;
  if (const CUresult error = FindStream(handle, &stream); error != CUDA_SUCCESS) return error;
  const auto memory = FindAllocation(address);
  if (!memory || memory->base != address || memory->kind != MemoryKind::kDevice)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEM_FREE, MakeHostWork([=] { Free(address, false); }));
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (pool == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Device* device = FindDevice(properties->location.id);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
  *pool = reinterpret_cast<CUmemoryPool>(
      Handles<MemoryPool>().Add(std::make_shared<MemoryPool>(MemoryPool{device})));
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return Handles<MemoryPool>().Remove(pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  Device* device = FindDevice(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  static std::mutex mutex;
  static auto* pools = new std::map<Device*, CUmemoryPool>;
  const std::lock_guard lock(mutex);
  CUmemoryPool& own = (*pools)[device];
  if (own == nullptr) {
    own = reinterpret_cast<CUmemoryPool>(
        Handles<MemoryPool>().Add(std::make_shared<MemoryPool>(MemoryPool{device})));
  }
  *pool = own;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}

// Pools keep no freed memory here, so thresholds and trimming do nothing.
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute, void*) {
  return Handles<MemoryPool>().Find(pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  if (Handles<MemoryPool>().Find(pool) == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    *static_cast<cuuint64_t*>(value) = 0;
  } else {
    *static_cast<int*>(value) = 1;
  }
  return CUDA_SUCCESS;
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return Handles<MemoryPool>().Find(pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc*, size_t) {
  return Handles<MemoryPool>().Find(pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool handle,
                                 CUstream stream_handle) {
  StreamPtr stream;
  if (const CUresult error = FindStream(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  const auto pool = Handles<MemoryPool>().Find(handle);
  if (pool == nullptr || address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
  return Allocate(pool->device, bytes, MemoryKind::kDevice, 0, address);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  const auto memory = FindAllocation(address);
  if (!memory) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = memory->base;
  if (bytes != nullptr) *bytes = memory->bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if (pointer == nullptr || (flags & ~7u) != 0) return CUDA_ERROR_INVALID_VALUE;
  return AllocateFor(MemoryKind::kHost, bytes, flags, reinterpret_cast<CUdeviceptr*>(pointer));
}
CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

CUresult cuMemFreeHost(void* pointer) {
  REQUIRE_CONTEXT(context);
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  WaitForAll(context);
  return Free(reinterpret_cast<CUdeviceptr>(pointer), true);
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  REQUIRE_CONTEXT(context);
  if (Faults().host_register_fails) return CUDA_ERROR_NOT_SUPPORTED;
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  return RegisterHost(pointer, bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  REQUIRE_CONTEXT(context);
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  return UnregisterHost(pointer);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
  REQUIRE_CONTEXT(context);
  const auto memory = FindAllocation(reinterpret_cast<std::uintptr_t>(pointer));
  const bool on_host =
      memory && (memory->kind == MemoryKind::kHost || memory->kind == MemoryKind::kRegistered);
  if (!on_host || address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  const auto memory = FindAllocation(reinterpret_cast<std::uintptr_t>(pointer));
  if (!memory || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = memory->flags;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  return value == nullptr ? CUDA_ERROR_INVALID_VALUE : AttributeOf(attribute, address, value);
}

// Writes zeros for the attributes of unknown pointers, without an error, as the real call does.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                CUdeviceptr address) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  for (unsigned i = 0; i < count; ++i) {
    const CUresult result = AttributeOf(attributes[i], address, values[i]);
    if (result == CUDA_SUCCESS) continue;
    if (result == CUDA_ERROR_NOT_SUPPORTED) return result;
    const bool wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                      attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                      attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER ||
                      attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
                      attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE;
    if (wide) {
      *static_cast<std::uint64_t*>(values[i]) = 0;
    } else {
      *static_cast<unsigned*>(values[i]) = 0;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void*, CUpointer_attribute attribute, CUdeviceptr address) {
  if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  return FindAllocation(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t, CUmemLocation, unsigned, CUstream) {
  const auto memory = FindAllocation(address);
  return memory && memory->kind == MemoryKind::kManaged ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t, CUmem_advise, CUmemLocation) {
  const auto memory = FindAllocation(address);
  return memory && memory->kind == MemoryKind::kManaged ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return cuMemAllocAsync(address, bytes, PerThread(stream));
}
CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream) {
  return cuMemFreeAsync(address, PerThread(stream));
}
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                      CUstream stream) {
  return cuMemAllocFromPoolAsync(address, bytes, pool, PerThread(stream));
}
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags,
                                    CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, location, flags, stream);
}

}  // extern "C"
