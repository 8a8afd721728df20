#include "simgpu/runtime/last_error.h"

namespace simgpu::runtime {

namespace {

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

bool IsSticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
      return true;
    default:
      return false;
  }
}

cudaError_t Keep(cudaError_t error) {
  if (error != cudaSuccess && !IsSticky(last_error)) last_error = error;
  return error;
}

cudaError_t Peek() { return last_error; }

cudaError_t Take() {
  const cudaError_t error = last_error;
  if (!IsSticky(error)) last_error = cudaSuccess;
  return error;
}

}  // namespace simgpu::runtime
