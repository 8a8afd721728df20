// Implements the calls about kernels: their handles, attributes and occupancy.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"
#include "simgpu/runtime/images.h"

using namespace simgpu::runtime;

// Both interfaces number the attributes that can be set, and the flags of caches, in the same way.
static_assert(int{cudaFuncAttributeMaxDynamicSharedMemorySize} ==
              int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
static_assert(int{cudaFuncAttributeClusterSchedulingPolicyPreference} ==
              int{CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE});

namespace {

// Runs call(driver, kernel, device) for the kernel of a host function and the thread's device.
template <typename Call>
cudaError_t WithKernel(const void* function, Call&& call) {
  return WithContext([&](const Driver& driver) {
    CUkernel kernel = nullptr;
    int device = 0;
    if (const cudaError_t error = FindKernel(driver, function, &kernel); error != cudaSuccess) return error;
    if (const cudaError_t error = GetDevice(driver, &device); error != cudaSuccess) return error;
    return ErrorOf(call(driver, kernel, device));
  });
}

// Reads the attributes of a kernel one after the other, and keeps the first error.
struct FunctionAttributes {
  const Driver& driver;
  CUkernel kernel;
  int device;
  CUresult result = CUDA_SUCCESS;

  int operator()(CUfunction_attribute attribute) {
    int value = 0;
    if (result == CUDA_SUCCESS) result = driver.cuKernelGetAttribute(&value, attribute, kernel, device);
    return value;
  }
};

}  // namespace

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int device) {
    if (attributes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    FunctionAttributes get{driver, kernel, device};
    cudaFuncAttributes own{};
    own.sharedSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    own.constSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    own.localSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    own.maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    own.numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
    own.ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    own.binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    own.cacheModeCA = get(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
    own.maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    own.preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    own.clusterDimMustBeSet = get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
    own.requiredClusterWidth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
    own.requiredClusterHeight = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
    own.requiredClusterDepth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
    own.clusterSchedulingPolicyPreference = get(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
    own.nonPortableClusterSizeAllowed = get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
    if (get.result == CUDA_SUCCESS) *attributes = own;
    return get.result;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int device) {
    return driver.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel, device);
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                            int device) {
  return WithContext([&](const Driver& driver) {
    return driver.cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel, device);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int device) {
    return driver.cuKernelSetCacheConfig(kernel, static_cast<CUfunc_cache>(config), device);
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int) {
    return driver.cuKernelGetName(name, kernel);
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int) {
    return driver.cuKernelGetParamInfo(kernel, index, offset, bytes);
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* result, const void* function) {
  return WithContext([&](const Driver& driver) {
    return result == nullptr ? cudaErrorInvalidValue : FindKernel(driver, function, result);
  });
}

cudaError_t __cudaGetKernel(cudaKernel_t* result, const void* function) {
  return cudaGetKernel(result, function);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* result, const void* function) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int) {
    return result == nullptr ? CUDA_ERROR_INVALID_VALUE : driver.cuKernelGetFunction(result, kernel);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes,
                                                                cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int threads, size_t shared_bytes,
                                                                   unsigned flags) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int) {
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, reinterpret_cast<CUfunction>(kernel), threads, shared_bytes, flags);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks,
                                                      int threads) {
  return WithKernel(function, [&](const Driver& driver, CUkernel kernel, int) {
    return driver.cuOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<CUfunction>(kernel), blocks,
                                                          threads);
  });
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return WithContext([&](const Driver& driver) {
    if (address == nullptr) return cudaErrorInvalidValue;
    CUdeviceptr found = 0;
    size_t bytes = 0;
    const cudaError_t error = FindVariable(driver, symbol, &found, &bytes);
    if (error == cudaSuccess) *address = reinterpret_cast<void*>(found);
    return error;
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return WithContext([&](const Driver& driver) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    CUdeviceptr found = 0;
    return FindVariable(driver, symbol, &found, bytes);
  });
}

}  // extern "C"
