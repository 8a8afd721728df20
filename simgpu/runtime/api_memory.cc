// Implements memory of devices and of the host, its attributes, and sharing between processes.
#include <cstring>
#include <iterator>

#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));
static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));

namespace {

CUdeviceptr* Address(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }
CUdeviceptr Address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

CUmemLocation LocationOf(const cudaMemLocation& location) {
  CUmemLocation own;
  static_assert(sizeof own == sizeof location);
  std::memcpy(&own, &location, sizeof own);
  return own;
}

cudaMemoryType TypeOf(unsigned driver_type, unsigned managed) {
  if (managed != 0) return cudaMemoryTypeManaged;
  switch (driver_type) {
    case CU_MEMORYTYPE_HOST:
      return cudaMemoryTypeHost;
    case CU_MEMORYTYPE_DEVICE:
      return cudaMemoryTypeDevice;
    default:
      return cudaMemoryTypeUnregistered;
  }
}

}  // namespace

extern "C" {

// An allocation of no bytes succeeds with a null pointer.
cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return WithContext([&](const Driver& driver) {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pointer = nullptr;
    return bytes == 0 ? CUDA_SUCCESS : driver.cuMemAlloc(Address(pointer), bytes);
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return WithContext([&](const Driver& driver) {
    constexpr unsigned kElement = 4;  // bytes; a program does not say how wide its accesses are
    return driver.cuMemAllocPitch(Address(pointer), pitch, width, height, kElement);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  if (memory == nullptr) return Keep(cudaErrorInvalidValue);
  memory->xsize = extent.width;
  memory->ysize = extent.height;
  return cudaMallocPitch(&memory->ptr, &memory->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuMemAllocManaged(Address(pointer), bytes, flags); });
}

cudaError_t cudaFree(void* pointer) {
  return WithContext([&](const Driver& driver) {
    return pointer == nullptr ? CUDA_SUCCESS : driver.cuMemFree(Address(pointer));
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return WithContext([&](const Driver& driver) {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pointer = nullptr;
    return bytes == 0 ? CUDA_SUCCESS : driver.cuMemHostAlloc(pointer, bytes, flags);
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return WithContext([&](const Driver& driver) {
    return pointer == nullptr ? CUDA_SUCCESS : driver.cuMemFreeHost(pointer);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return WithContext([&](const Driver& driver) { return driver.cuMemHostRegister(pointer, bytes, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return WithContext([&](const Driver& driver) { return driver.cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** result, void* pointer, unsigned flags) {
  return WithContext([&](const Driver& driver) {
    return driver.cuMemHostGetDevicePointer(Address(result), pointer, flags);
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return WithContext([&](const Driver& driver) { return driver.cuMemHostGetFlags(flags, pointer); });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return WithContext([&](const Driver& driver) { return driver.cuMemGetInfo(free_bytes, total); });
}

// Memory that CUDA does not know is host memory of the program: the call succeeds and says so.
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return WithContext([&](const Driver& driver) {
    if (attributes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    unsigned type = 0, managed = 0;
    int device = 0;
    void *on_device = nullptr, *on_host = nullptr;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                    CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void* values[] = {&type, &managed, &device, &on_device, &on_host};
    const CUresult result =
        driver.cuPointerGetAttributes(std::size(wanted), wanted, values, Address(pointer));
    if (result != CUDA_SUCCESS) return result;
    *attributes = {};
    attributes->type = TypeOf(type, managed);
    const bool known = attributes->type != cudaMemoryTypeUnregistered;
    attributes->device = known ? device : cudaInvalidDeviceId;
    attributes->devicePointer = known ? on_device : nullptr;
    attributes->hostPointer = known ? on_host : const_cast<void*>(pointer);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return WithContext([&](const Driver& driver) {
    return driver.cuMemAdvise(Address(pointer), bytes, static_cast<CUmem_advise>(advice),
                              LocationOf(location));
  });
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return WithContext([&](const Driver& driver) {
    return driver.cuIpcGetMemHandle(reinterpret_cast<CUipcMemHandle*>(handle), Address(pointer));
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return WithContext([&](const Driver& driver) {
    CUipcMemHandle own;
    std::memcpy(&own, &handle, sizeof own);
    return driver.cuIpcOpenMemHandle(Address(pointer), own, flags);
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return WithContext([&](const Driver& driver) { return driver.cuIpcCloseMemHandle(Address(pointer)); });
}

}  // extern "C"

SIMGPU_RUNTIME_STREAM_CALL(cudaMemPrefetchAsync, _ptsz,
                           (const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                            cudaStream_t stream),
                           (pointer, bytes, location, flags, stream)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls).cuMemPrefetchAsync(Address(pointer), bytes, LocationOf(location), flags, stream);
  });
}
