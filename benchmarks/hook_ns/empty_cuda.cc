#include "benchmarks/hook_ns/empty_cuda.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

// The alignment keeps kernels as far apart as what a driver stores for each kernel.
struct alignas(64) Kernel {
  char name[192];
};
constexpr std::size_t kMostKernels = 256;
std::array<Kernel, kMostKernels> kernels;
std::atomic<std::size_t> kernel_count{0};

constexpr std::uintptr_t kContext = 0x1000;
alignas(64) std::array<char, 4096> host_memory;
std::atomic<std::uintptr_t> next_handle{0x10000};

template <typename Handle>
CUresult Make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(next_handle.fetch_add(0x40));
  return CUDA_SUCCESS;
}

CUresult Launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                void**, void**) {
  return CUDA_SUCCESS;
}
CUresult LaunchEx(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }
CUresult LaunchGraph(CUgraphExec, CUstream) { return CUDA_SUCCESS; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

decltype(&cuLaunchKernel) EmptyDirectLaunch() { return &Launch; }
decltype(&cuLaunchKernelEx) EmptyDirectLaunchEx() { return &LaunchEx; }
decltype(&cuGraphLaunch) EmptyDirectGraphLaunch() { return &LaunchGraph; }

#define EMPTY_LAUNCH(name)                                                                                  \
  CUresult name(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
                void**, void**) {                                                                           \
    return CUDA_SUCCESS;                                                                                    \
  }
EMPTY_LAUNCH(cuLaunchKernel)
EMPTY_LAUNCH(cuLaunchKernel_ptsz)
#define EMPTY_COOPERATIVE(name)                                                                             \
  CUresult name(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
                void**) {                                                                                   \
    return CUDA_SUCCESS;                                                                                    \
  }
EMPTY_COOPERATIVE(cuLaunchCooperativeKernel)
EMPTY_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }
CUresult cuGraphLaunch(CUgraphExec, CUstream) { return CUDA_SUCCESS; }
CUresult cuGraphLaunch_ptsz(CUgraphExec, CUstream) { return CUDA_SUCCESS; }

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int* version) {
  *version = 12040;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  const std::size_t number = kernel_count.fetch_add(1);
  if (number >= kMostKernels) return CUDA_ERROR_OUT_OF_MEMORY;
  std::strncpy(kernels[number].name, name, sizeof kernels[number].name - 1);
  *function = reinterpret_cast<CUfunction>(&kernels[number]);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  *name = reinterpret_cast<const Kernel*>(function)->name;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(kContext);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPushCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext*) { return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_MPS_ENABLED ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  *uuid = {};
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  *mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) { return Make(stream); }
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamQuery(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) { return CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent* event, unsigned) { return Make(event); }
CUresult cuEventRecord(CUevent, CUstream) { return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent) { return CUDA_SUCCESS; }
CUresult cuLaunchHostFunc(CUstream, CUhostFn function, void* data) {
  function(data);
  return CUDA_SUCCESS;
}

// Performs the writes, and treats every wait as already satisfied.
CUresult cuStreamBatchMemOp(CUstream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned) {
  for (unsigned i = 0; i < count; ++i) {
    if (operations[i].operation != CU_STREAM_MEM_OP_WRITE_VALUE_32) continue;
    auto* word = reinterpret_cast<std::uint32_t*>(operations[i].writeValue.address);
    __atomic_store_n(word, operations[i].writeValue.value, __ATOMIC_RELEASE);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void** memory, size_t, unsigned) {
  *memory = host_memory.data();
  return CUDA_SUCCESS;
}
CUresult cuMemHostRegister(void*, size_t, unsigned) { return CUDA_SUCCESS; }
CUresult cuMemHostUnregister(void*) { return CUDA_SUCCESS; }
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* memory, unsigned) {
  *device = reinterpret_cast<std::uintptr_t>(memory);
  return CUDA_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop
