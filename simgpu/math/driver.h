// Finds the CUDA driver as NVIDIA's libraries do: dlopen("libcuda.so.1"), one dlsym for cuGetProcAddress_v2,
// and that function for all others. The driver is never linked, so a library that interposes it meets these
// libraries on the way on which it meets NVIDIA's.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

namespace simgpu::math {

// Lists X(name, ABI version as in PFN_<name>_v<version>).
#define SIMGPU_MATH_DRIVER_FUNCTIONS(X) \
  X(cuInit, 2000)                       \
  X(cuCtxGetCurrent, 4000)              \
  X(cuCtxSetCurrent, 4000)              \
  X(cuCtxGetDevice, 2000)               \
  X(cuDeviceGetAttribute, 2000)         \
  X(cuDevicePrimaryCtxRetain, 7000)     \
  X(cuLibraryLoadData, 12000)           \
  X(cuLibraryGetKernel, 12000)          \
  X(cuLaunchKernel, 4000)

// A Driver is the table of the functions in SIMGPU_MATH_DRIVER_FUNCTIONS. All of them are set.
struct Driver {
#define SIMGPU_MATH_POINTER(name, version) PFN_##name##_v##version name = nullptr;
  SIMGPU_MATH_DRIVER_FUNCTIONS(SIMGPU_MATH_POINTER)
#undef SIMGPU_MATH_POINTER
};

// Loads and initialises the driver on the first call. Returns nullptr, after a line on stderr, if that fails.
// Thread-safe; the table lives as long as the process.
const Driver* LoadDriver();

}  // namespace simgpu::math
