// Implements devices: which there are, which one a thread uses, their limits and their peers.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

// Both interfaces number attributes, limits and flags in the same way.
static_assert(int{cudaDevAttrMaxThreadsPerBlock} == int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
static_assert(int{cudaDevAttrMemoryPoolsSupported} == int{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED});
static_assert(int{cudaDevP2PAttrCudaArrayAccessSupported} ==
              int{CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED});
static_assert(int{cudaLimitPersistingL2CacheSize} == int{CU_LIMIT_PERSISTING_L2_CACHE_SIZE});
static_assert(unsigned{cudaDeviceScheduleBlockingSync} == unsigned{CU_CTX_SCHED_BLOCKING_SYNC});

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceGetCount(count); });
}

cudaError_t cudaGetDevice(int* device) {
  return WithDriver([&](const Driver& driver) { return GetDevice(driver, device); });
}

cudaError_t cudaSetDevice(int device) {
  return WithDriver([&](const Driver& driver) { return SetDevice(driver, device); });
}

// Makes the device's primary context, and does not make it current.
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return WithDriver([&](const Driver& driver) {
    if ((flags & ~unsigned{cudaInitDeviceFlagsAreValid}) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaInitDeviceFlagsAreValid) != 0) {
      const CUresult set = driver.cuDevicePrimaryCtxSetFlags(device, device_flags);
      if (set != CUDA_SUCCESS) return ErrorOf(set);
    }
    CUcontext context = nullptr;
    return PrimaryContext(driver, device, &context);
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return WithDriver([&](const Driver& driver) {
    int device = 0;
    if (const cudaError_t error = GetDevice(driver, &device); error != cudaSuccess) return error;
    return ErrorOf(driver.cuDevicePrimaryCtxSetFlags(device, flags));
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return WithDriver([&](const Driver& driver) {
    int device = 0, active = 0;
    if (flags == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = GetDevice(driver, &device); error != cudaSuccess) return error;
    return ErrorOf(driver.cuDevicePrimaryCtxGetState(device, flags, &active));
  });
}

cudaError_t cudaDeviceReset() {
  return WithDriver([&](const Driver& driver) { return ResetDevice(driver); });
}

cudaError_t cudaDeviceSynchronize() {
  return WithContext([&](const Driver& driver) { return driver.cuCtxSynchronize(); });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceGetPCIBusId(text, bytes, device); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceGetByPCIBusId(device, text); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuCtxGetLimit(value, static_cast<CUlimit>(limit)); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return WithContext([&](const Driver& driver) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUfunc_cache own{};
    const CUresult result = driver.cuCtxGetCacheConfig(&own);
    if (result == CUDA_SUCCESS) *config = static_cast<cudaFuncCache>(own);
    return result;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)); });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return WithContext([&](const Driver& driver) { return driver.cuCtxResetPersistingL2Cache(); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return WithDriver([&](const Driver& driver) { return driver.cuDeviceCanAccessPeer(can, device, peer); });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return WithDriver([&](const Driver& driver) {
    return driver.cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute), from, to);
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return WithContext([&](const Driver& driver) {
    CUcontext context = nullptr;
    if (const cudaError_t error = PrimaryContext(driver, peer, &context); error != cudaSuccess) return error;
    return ErrorOf(driver.cuCtxEnablePeerAccess(context, flags));
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return WithContext([&](const Driver& driver) {
    CUcontext context = nullptr;
    if (const cudaError_t error = PrimaryContext(driver, peer, &context); error != cudaSuccess) return error;
    return ErrorOf(driver.cuCtxDisablePeerAccess(context));
  });
}

}  // extern "C"
