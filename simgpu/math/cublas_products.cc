// Implements the matrix products of cuBLAS: each is one kernel, whose duration follows from its sizes.
#include <cstdint>

#include "simgpu/math/cublas.h"
#include "simgpu/math/export.h"
#include "simgpu/math/product.h"

using namespace simgpu::math;

namespace {

// Queues a product with the sizes that a caller gave, or says which status they earn.
int Product(const CublasHandle* handle, int m, int n, int k, int batch, Precision precision) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (m < 0 || n < 0 || k < 0 || batch < 0) return kCublasInvalidValue;
  const auto size = [](int value) { return static_cast<std::uint64_t>(value); };
  return LaunchProduct(handle->stream, handle->sms, {size(m), size(n), size(k), size(batch)}, precision);
}

constexpr int kTf32Mode = 3;  // CUBLAS_TF32_TENSOR_OP_MATH

// Returns the precision of calls whose name says single precision.
Precision Single(const CublasHandle* handle) {
  return handle != nullptr && (handle->math_mode & 15) == kTf32Mode ? Precision::kTensorFloat
                                                                    : Precision::kSingle;
}

}  // namespace

// Defines the forms of the product, for each type of element. A complex product costs four real ones.
#define SIMGPU_MATH_GEMMS(letter, precision, factor)                                                         \
  SIMGPU_MATH_CALL int cublas##letter##gemm_v2(CublasHandle* handle, int, int, int m, int n, int k,          \
                                               const void*, const void*, int, const void*, int, const void*, \
                                               void*, int) {                                                 \
    return Product(handle, m, n, k, factor, precision);                                                      \
  }                                                                                                          \
  SIMGPU_MATH_CALL int cublas##letter##gemmBatched(CublasHandle* handle, int, int, int m, int n, int k,      \
                                                   const void*, const void*, int, const void*, int,          \
                                                   const void*, void*, int, int batch) {                     \
    return Product(handle, m, n, k, factor * batch, precision);                                              \
  }                                                                                                          \
  SIMGPU_MATH_CALL int cublas##letter##gemmStridedBatched(                                                   \
      CublasHandle* handle, int, int, int m, int n, int k, const void*, const void*, int, long long,         \
      const void*, int, long long, const void*, void*, int, long long, int batch) {                          \
    return Product(handle, m, n, k, factor * batch, precision);                                              \
  }

SIMGPU_MATH_GEMMS(S, Single(handle), 1)
SIMGPU_MATH_GEMMS(D, Precision::kDouble, 1)
SIMGPU_MATH_GEMMS(C, Single(handle), 4)
SIMGPU_MATH_GEMMS(Z, Precision::kDouble, 4)

SIMGPU_MATH_CALL int cublasSgemmEx(CublasHandle* handle, int, int, int m, int n, int k, const void*,
                                   const void*, int a_type, int, const void*, int, int, const void*, void*,
                                   int, int) {
  return Product(handle, m, n, k, 1, PrecisionOf(a_type));
}

SIMGPU_MATH_CALL int cublasGemmEx(CublasHandle* handle, int, int, int m, int n, int k, const void*,
                                  const void*, int a_type, int, const void*, int, int, const void*, void*,
                                  int, int, int compute_type, int) {
  return Product(handle, m, n, k, 1, PrecisionOf(a_type, compute_type));
}

SIMGPU_MATH_CALL int cublasGemmStridedBatchedEx(CublasHandle* handle, int, int, int m, int n, int k,
                                                const void*, const void*, int a_type, int, long long,
                                                const void*, int, int, long long, const void*, void*, int,
                                                int, long long, int batch, int compute_type, int) {
  return Product(handle, m, n, k, batch, PrecisionOf(a_type, compute_type));
}
