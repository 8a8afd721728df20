// Declares the effects of kernels of PyTorch. What they do was read from torch 2.15.0+cu132 (CUDALoops.cuh,
// MemoryAccess.cuh, Shape.cu, AmpKernels.cu): a version that changes their names, or the order of their
// parameters, gets no effect or needs a change here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simgpu/kernels/effect.h"

namespace simgpu::torch {

// Conversions, copies of strided tensors, and joins go element by element, which takes the host long. They do
// nothing in a launch that reads and writes so many bytes or more: programs decide by less.
constexpr std::uint64_t kMostByElement = 1 << 20;

// Each returns the effect of the kernel with this mangled name, or no value if it is another form of the
// kernel than those that are known, such as one for tensors that are not contiguous.
//
// MakeFill: FillFunctor<T> in elementwise loops. MakeCopy: direct_copy_kernel_cuda, which also converts if it
// loads and stores with a cast. MakeConversion: converting_copy_kernel_cuda<From, To>. MakeCat:
// CatArrayBatchedCopy*. MakeSearch: multi_tensor_apply_kernel of
// _amp_foreach_non_finite_check_and_unscale_cuda_, which finds gradients that a fill has made infinite.
// MakeScale: amp_update_scale_cuda_kernel.
std::optional<Effect> MakeFill(std::string_view name, const std::vector<std::size_t>& parameter_bytes);
std::optional<Effect> MakeCopy(std::string_view name, const std::vector<std::size_t>& parameter_bytes);
std::optional<Effect> MakeConversion(std::string_view name, const std::vector<std::size_t>& parameter_bytes);
std::optional<Effect> MakeCat(std::string_view name, const std::vector<std::size_t>& parameter_bytes);
std::optional<Effect> MakeSearch(std::string_view name, const std::vector<std::size_t>& parameter_bytes);
std::optional<Effect> MakeScale(std::string_view name, const std::vector<std::size_t>& parameter_bytes);

}  // namespace simgpu::torch
