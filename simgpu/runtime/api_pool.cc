// Implements memory pools and allocation in the order of a stream.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

// Pools have one layout and one numbering in both interfaces.
static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(offsetof(cudaMemPoolProps, maxSize) == offsetof(CUmemPoolProps, maxSize));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(int{cudaMemPoolAttrUsedMemHigh} == int{CU_MEMPOOL_ATTR_USED_MEM_HIGH});
static_assert(int{cudaGraphMemAttrReservedMemHigh} == int{CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH});

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceGetDefaultMemPool(pool, device); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceGetMemPool(pool, device); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceSetMemPool(device, pool); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties));
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return WithDriver([&](const Driver& driver) { return driver.cuMemPoolDestroy(pool); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t least) {
  return WithDriver([&](const Driver& driver) { return driver.cuMemPoolTrimTo(pool, least); });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value);
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return WithDriver([&](const Driver& driver) {
    CUmemAccess_flags own{};
    const CUresult result = driver.cuMemPoolGetAccess(&own, pool, reinterpret_cast<CUmemLocation*>(location));
    if (result == CUDA_SUCCESS) *flags = static_cast<cudaMemAccessFlags>(own);
    return result;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access, size_t count) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(access), count);
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value);
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value);
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceGraphMemTrim(device); });
}

}  // extern "C"

SIMGPU_RUNTIME_STREAM_CALL(cudaMallocAsync, _ptsz, (void** pointer, size_t bytes, cudaStream_t stream),
                           (pointer, bytes, stream)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls).cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(pointer), bytes, stream);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMallocFromPoolAsync, _ptsz,
                           (void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                           (pointer, bytes, pool, stream)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls)
        .cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr*>(pointer), bytes, pool, stream);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaFreeAsync, _ptsz, (void* pointer, cudaStream_t stream), (pointer, stream)) {
  return WithContext([&](const Driver& driver) {
    if (pointer == nullptr) return CUDA_SUCCESS;
    return (driver.*calls).cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(pointer), stream);
  });
}
