// The kernels that stand for collectives on the GPU: they do nothing but hold their SMs until the done word
// says that the data has moved. Pure text.
#pragma once

#include <string>

#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

// As NCCL names them: "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
std::string KernelName(const Call& call);

// A simgpu module image with every kernel, each holding `sms`. Parameters: address of the done word, number
// of the task, address of the engine (for kKernelBegin, called when the kernel gets its SMs).
std::string KernelImage(int sms);
inline constexpr const char* kKernelBegin = "simgpuNcclKernelBegin";

// The same kernels and parameters as PTX, for a real driver; they call nothing.
std::string KernelPtx();

}  // namespace simgpu::nccl
