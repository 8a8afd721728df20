// Queues the matrix products of cuBLAS and cuBLASLt, and names the numbers of their interfaces that both
// need.
#pragma once

#include <cuda.h>

#include "simgpu/math/cost.h"

namespace simgpu::math {

// cublasStatus_t
enum CublasStatus : int {
  kCublasSuccess = 0,
  kCublasNotInitialized = 1,
  kCublasAllocationFailed = 3,
  kCublasInvalidValue = 7,
  kCublasExecutionFailed = 13,
  kCublasNotSupported = 15,
};

// Returns the precision of operands of `data_type` (cudaDataType_t) if nothing else is said.
Precision PrecisionOf(int data_type);

// Returns the precision in which a product of such operands is computed by `compute_type`
// (cublasComputeType_t).
Precision PrecisionOf(int data_type, int compute_type);

// Queues the kernel of a product on `stream`, for at most `sms` SMs (0: all). A product without a result
// queues none.
CublasStatus LaunchProduct(CUstream stream, int sms, const MatrixShape& shape, Precision precision);

}  // namespace simgpu::math
