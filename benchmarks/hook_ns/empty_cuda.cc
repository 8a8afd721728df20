#include "benchmarks/hook_ns/empty_cuda.h"

#include <cstring>

#define EMPTY_EXPORT __attribute__((visibility("default")))

namespace {

CUresult Launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                void**, void**) {
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

EMPTY_EXPORT decltype(&cuLaunchKernel) EmptyDirectLaunch() { return &Launch; }

EMPTY_EXPORT CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

EMPTY_EXPORT CUresult cuDriverGetVersion(int* version) {
  *version = 12040;
  return CUDA_SUCCESS;
}

EMPTY_EXPORT CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, CUstream, void**, void**) {
  return CUDA_SUCCESS;
}

// Knows no function but the launch.
EMPTY_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                                          CUdriverProcAddressQueryResult* found) {
  const bool known = std::strcmp(name, "cuLaunchKernel") == 0;
  *function = known ? reinterpret_cast<void*>(&cuLaunchKernel) : nullptr;
  if (found != nullptr) *found = known ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return known ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
