// Implements the state of cuBLAS: handles, their streams and modes; and the calls whose sizes the stand-in
// does not read.
#include "simgpu/math/cublas.h"

#include <cstddef>
#include <new>

#include "simgpu/math/cublas_other.h"
#include "simgpu/math/export.h"
#include "simgpu/math/launch.h"
#include "simgpu/math/product.h"
#include "simgpu/stand_ins/refuse.h"

using namespace simgpu::math;

namespace {

constexpr Cost kOther{5000, 16};  // of a call whose sizes the stand-in does not read

CublasStatus QueueOther(const CublasHandle* handle) {
  if (handle == nullptr) return kCublasNotInitialized;
  return Launch(KernelName::kBlas, kOther, handle->stream) ? kCublasSuccess : kCublasExecutionFailed;
}

}  // namespace

int simgpu_cublas_timed(void* handle, const char*) { return QueueOther(static_cast<CublasHandle*>(handle)); }

int simgpu_cublas_scalar(void* handle, const char* name) {
  const auto* own = static_cast<CublasHandle*>(handle);
  if (own != nullptr && own->pointer_mode == PointerMode::kHost) {
    simgpu_refuse("libcublas.so.13", name, "its result would go to the host, and no kernel computes it");
    return kCublasNotSupported;
  }
  return QueueOther(own);
}

SIMGPU_MATH_CALL int cublasCreate_v2(CublasHandle** handle) {
  if (handle == nullptr) return kCublasInvalidValue;
  if (!UseContext()) return kCublasNotInitialized;
  *handle = new (std::nothrow) CublasHandle;
  return *handle != nullptr ? kCublasSuccess : kCublasAllocationFailed;
}

SIMGPU_MATH_CALL int cublasDestroy_v2(CublasHandle* handle) {
  if (handle == nullptr) return kCublasNotInitialized;
  delete handle;
  return kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasSetStream_v2(CublasHandle* handle, CUstream stream) {
  if (handle == nullptr) return kCublasNotInitialized;
  handle->stream = stream;
  return kCublasSuccess;
}

// Takes the workspace and leaves it alone: no kernel of the stand-in needs one.
SIMGPU_MATH_CALL int cublasSetWorkspace_v2(CublasHandle* handle, void* workspace, std::size_t bytes) {
  if (handle == nullptr) return kCublasNotInitialized;
  return workspace == nullptr && bytes > 0 ? kCublasInvalidValue : kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasSetPointerMode_v2(CublasHandle* handle, int mode) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (mode != 0 && mode != 1) return kCublasInvalidValue;
  handle->pointer_mode = static_cast<PointerMode>(mode);
  return kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasGetPointerMode_v2(CublasHandle* handle, int* mode) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (mode == nullptr) return kCublasInvalidValue;
  *mode = static_cast<int>(handle->pointer_mode);
  return kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasSetMathMode(CublasHandle* handle, int mode) {
  if (handle == nullptr) return kCublasNotInitialized;
  handle->math_mode = mode;
  return kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasGetMathMode(CublasHandle* handle, int* mode) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (mode == nullptr) return kCublasInvalidValue;
  *mode = handle->math_mode;
  return kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasSetSmCountTarget(CublasHandle* handle, int sms) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (sms < 0) return kCublasInvalidValue;
  handle->sms = sms;
  return kCublasSuccess;
}
