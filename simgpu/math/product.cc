#include "simgpu/math/product.h"

#include "simgpu/math/launch.h"

namespace simgpu::math {

Precision PrecisionOf(int data_type) {
  switch (data_type) {
    case 1:  // CUDA_R_64F
    case 5:  // CUDA_C_64F
      return Precision::kDouble;
    case 2:   // CUDA_R_16F
    case 14:  // CUDA_R_16BF
      return Precision::kHalf;
    case 3:   // CUDA_R_8I
    case 28:  // CUDA_R_8F_E4M3
    case 29:  // CUDA_R_8F_E5M2
      return Precision::kByte;
    default:
      return Precision::kSingle;
  }
}

Precision PrecisionOf(int data_type, int compute_type) {
  const Precision own = PrecisionOf(data_type);
  if (own != Precision::kSingle) return own;
  switch (compute_type) {
    case 74:  // CUBLAS_COMPUTE_32F_FAST_16F
    case 75:  // CUBLAS_COMPUTE_32F_FAST_16BF
      return Precision::kHalf;
    case 77:  // CUBLAS_COMPUTE_32F_FAST_TF32
      return Precision::kTensorFloat;
    default:
      return Precision::kSingle;
  }
}

CublasStatus LaunchProduct(CUstream stream, int sms, const MatrixShape& shape, Precision precision) {
  if (shape.m == 0 || shape.n == 0 || shape.batch == 0) return kCublasSuccess;
  const Cost cost = CostOfProduct(shape, precision, sms > 0 ? sms : SmsHere());
  return Launch(KernelName::kGemm, cost, stream) ? kCublasSuccess : kCublasExecutionFailed;
}

}  // namespace simgpu::math
