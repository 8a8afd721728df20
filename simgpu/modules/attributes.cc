#include "simgpu/modules/attributes.h"

#include <algorithm>

namespace simgpu {
namespace {

constexpr int kUsualShared = 48 << 10;  // of a block, unless its program asks for more
constexpr int kMostShared = 227 << 10;  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
constexpr int kMostOfACluster = 16;

CUresult SetBetween(int low, int high, int value, std::atomic<int>* target) {
  if (value < low || value > high) return CUDA_ERROR_INVALID_VALUE;
  *target = value;
  return CUDA_SUCCESS;
}

}  // namespace

void KernelAttributes::Take(const image::KernelImage& kernel) {
  if (kernel.most_threads > 0) most_threads_ = kernel.most_threads;
  if (kernel.registers > 0) registers_ = kernel.registers;
  static_shared_ = static_cast<int>(std::min<std::uint32_t>(kernel.shared_bytes, kMostShared));
  most_dynamic_shared_ = std::max(kUsualShared - static_shared_, 0);
}

CUresult KernelAttributes::Get(CUfunction_attribute attribute, int* value) const {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = most_threads_;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_shared_;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = registers_;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = kArchitecture;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = most_dynamic_shared_;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = carveout_;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = cluster_[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
      break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = large_cluster_;
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = cluster_policy_;
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = 0;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult KernelAttributes::Set(CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return SetBetween(0, kMostShared - static_shared_, value, &most_dynamic_shared_);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return SetBetween(-1, 100, value, &carveout_);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return SetBetween(0, kMostOfACluster, value,
                        &cluster_[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return SetBetween(0, 1, value, &large_cluster_);
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return SetBetween(0, 2, value, &cluster_policy_);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult KernelAttributes::CheckLaunch(unsigned threads, unsigned shared) const {
  if (shared > static_cast<unsigned>(most_dynamic_shared_)) return CUDA_ERROR_INVALID_VALUE;
  return threads > static_cast<unsigned>(most_threads_) ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

}  // namespace simgpu
