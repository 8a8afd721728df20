// Writes the kernels that stand for collectives on the GPU. They only hold their SMs until the done word
// says that the data has moved. Pure text.
#pragma once

#include <string>

#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

// Returns the name of a call's kernel in NCCL, such as "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
std::string KernelName(const Call& call);

// Returns a simgpu module image with every kernel, each holding `sms`. The parameters are the address of
// the done word, the number of the task and the address of the engine. kKernelBegin is called with them
// when the kernel gets its SMs.
std::string KernelImage(int sms);
inline constexpr const char* kKernelBegin = "simgpuNcclKernelBegin";

// Returns the same kernels, with the same parameters, as PTX for a real driver. They call nothing.
std::string KernelPtx();

}  // namespace simgpu::nccl
