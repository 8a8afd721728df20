// Implements the properties of devices, which are the driver's attributes under other names.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

namespace {

// Reads the attributes of a device one after the other, and keeps the first error.
class Attributes {
 public:
  Attributes(const Driver& driver, int device) : driver_(driver), device_(device) {}

  // Writes an attribute into a property of any type of integer.
  template <typename Property>
  void operator()(CUdevice_attribute attribute, Property* property) {
    int value = 0;
    if (result_ == CUDA_SUCCESS) result_ = driver_.cuDeviceGetAttribute(&value, attribute, device_);
    *property = static_cast<Property>(value);
  }
  CUresult result() const { return result_; }

 private:
  const Driver& driver_;
  int device_;
  CUresult result_ = CUDA_SUCCESS;
};

void FillCompute(Attributes& get, cudaDeviceProp* p) {
  get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &p->sharedMemPerBlock);
  get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &p->regsPerBlock);
  get(CU_DEVICE_ATTRIBUTE_WARP_SIZE, &p->warpSize);
  get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &p->maxThreadsPerBlock);
  get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &p->maxThreadsDim[0]);
  get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &p->maxThreadsDim[1]);
  get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &p->maxThreadsDim[2]);
  get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &p->maxGridSize[0]);
  get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &p->maxGridSize[1]);
  get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &p->maxGridSize[2]);
  get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &p->major);
  get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &p->minor);
  get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &p->multiProcessorCount);
  get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &p->maxThreadsPerMultiProcessor);
  get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &p->maxBlocksPerMultiProcessor);
  get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &p->sharedMemPerMultiprocessor);
  get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &p->sharedMemPerBlockOptin);
  get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &p->reservedSharedMemPerBlock);
  get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &p->regsPerMultiprocessor);
  get(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, &p->concurrentKernels);
  get(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, &p->computePreemptionSupported);
  get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &p->cooperativeLaunch);
  get(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, &p->clusterLaunch);
  get(CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, &p->unifiedFunctionPointers);
  get(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, &p->streamPrioritiesSupported);
}

void FillMemory(Attributes& get, cudaDeviceProp* p) {
  get(CU_DEVICE_ATTRIBUTE_MAX_PITCH, &p->memPitch);
  get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, &p->totalConstMem);
  get(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, &p->canMapHostMemory);
  get(CU_DEVICE_ATTRIBUTE_ECC_ENABLED, &p->ECCEnabled);
  get(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, &p->asyncEngineCount);
  get(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, &p->unifiedAddressing);
  get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &p->memoryBusWidth);
  get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &p->l2CacheSize);
  get(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, &p->persistingL2CacheMaxSize);
  get(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, &p->accessPolicyMaxWindowSize);
  get(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, &p->globalL1CacheSupported);
  get(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, &p->localL1CacheSupported);
  get(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, &p->managedMemory);
  get(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, &p->concurrentManagedAccess);
  get(CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, &p->directManagedMemAccessFromHost);
  get(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, &p->pageableMemoryAccess);
  get(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
      &p->pageableMemoryAccessUsesHostPageTables);
  get(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, &p->hostNativeAtomicSupported);
  get(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, &p->canUseHostPointerForRegisteredMem);
  get(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, &p->hostRegisterSupported);
  get(CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, &p->hostRegisterReadOnlySupported);
  get(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &p->memoryPoolsSupported);
  get(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, &p->memoryPoolSupportedHandleTypes);
}

void FillPlace(Attributes& get, cudaDeviceProp* p) {
  get(CU_DEVICE_ATTRIBUTE_INTEGRATED, &p->integrated);
  get(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &p->pciBusID);
  get(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &p->pciDeviceID);
  get(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &p->pciDomainID);
  get(CU_DEVICE_ATTRIBUTE_TCC_DRIVER, &p->tccDriver);
  get(CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, &p->isMultiGpuBoard);
  get(CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, &p->multiGpuBoardGroupID);
  get(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, &p->gpuDirectRDMASupported);
  get(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, &p->gpuDirectRDMAFlushWritesOptions);
  get(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING, &p->gpuDirectRDMAWritesOrdering);
  get(CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, &p->timelineSemaphoreInteropSupported);
  get(CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, &p->ipcEventSupported);
  get(CU_DEVICE_ATTRIBUTE_MPS_ENABLED, &p->mpsEnabled);
}

}  // namespace

// Leaves the fields of textures, surfaces and NUMA nodes at 0: this library has none of them.
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return WithDriver([&](const Driver& driver) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp own{};
    if (const CUresult result = driver.cuDeviceGetName(own.name, sizeof own.name, device);
        result != CUDA_SUCCESS) {
      return result;
    }
    if (const CUresult result = driver.cuDeviceGetUuid(&own.uuid, device); result != CUDA_SUCCESS)
      return result;
    if (const CUresult result = driver.cuDeviceTotalMem(&own.totalGlobalMem, device); result != CUDA_SUCCESS)
      return result;
    Attributes get(driver, device);
    FillCompute(get, &own);
    FillMemory(get, &own);
    FillPlace(get, &own);
    if (get.result() == CUDA_SUCCESS) *properties = own;
    return get.result();
  });
}
