// Loads the CUDA driver at run time: dlopen("libcuda.so.1"), one dlsym for cuGetProcAddress_v2, and a
// look-up by name and ABI version for all other functions. NCCL does the same. The driver is never linked,
// so tools that interpose it see this library as they see NCCL.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

namespace simgpu::nccl {

// Lists X(name, ABI version as in PFN_<name>_v<version>).
#define SIMGPU_NCCL_DRIVER_FUNCTIONS(X) \
  X(cuInit, 2000)                       \
  X(cuGetErrorString, 6000)             \
  X(cuDeviceGet, 2000)                  \
  X(cuDeviceGetCount, 2000)             \
  X(cuDeviceGetUuid, 11040)             \
  X(cuDevicePrimaryCtxRetain, 7000)     \
  X(cuCtxGetCurrent, 4000)              \
  X(cuCtxSetCurrent, 4000)              \
  X(cuCtxGetDevice, 2000)               \
  X(cuModuleLoadData, 2000)             \
  X(cuModuleUnload, 2000)               \
  X(cuModuleGetFunction, 2000)          \
  X(cuMemAlloc, 3020)                   \
  X(cuMemFree, 3020)                    \
  X(cuMemHostAlloc, 2020)               \
  X(cuMemFreeHost, 2000)                \
  X(cuMemHostGetDevicePointer, 3020)    \
  X(cuMemcpyDtoHAsync, 3020)            \
  X(cuMemcpyHtoDAsync, 3020)            \
  X(cuMemcpyDtoDAsync, 3020)            \
  X(cuEventCreate, 2000)                \
  X(cuEventRecord, 2000)                \
  X(cuEventRecordWithFlags, 11010)      \
  X(cuEventQuery, 2000)                 \
  X(cuEventSynchronize, 2000)           \
  X(cuEventDestroy, 4000)               \
  X(cuStreamWaitEvent, 3020)            \
  X(cuStreamCreate, 2000)               \
  X(cuStreamDestroy, 4000)              \
  X(cuStreamGetCaptureInfo, 10010)      \
  X(cuLaunchKernelEx, 11060)            \
  X(cuLaunchHostFunc, 10000)            \
  X(cuThreadExchangeStreamCaptureMode, 10010)

// A Driver is the table of the functions in SIMGPU_NCCL_DRIVER_FUNCTIONS.
struct Driver {
#define SIMGPU_NCCL_POINTER(name, version) PFN_##name##_v##version name = nullptr;
  SIMGPU_NCCL_DRIVER_FUNCTIONS(SIMGPU_NCCL_POINTER)
#undef SIMGPU_NCCL_POINTER
};

// Loads and initialises the driver on the first call. Returns nullptr, with the reason in *error, if that
// fails. Thread-safe; the table lives as long as the process.
const Driver* LoadDriver(std::string* error);

// Returns a text such as "cuMemHostAlloc: out of memory (2)".
std::string DriverError(const Driver& driver, const char* what, CUresult result);

}  // namespace simgpu::nccl
