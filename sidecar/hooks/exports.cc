// Defines the pointers through which the exported functions of exports_entry.S jump.

#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/nccl_hooks.h"
#include "sidecar/hooks/nvml_hooks.h"

namespace crossover::hooks {

#define CUDA_HOOK(symbol, name, version, flavour, type, policy)                          \
  extern "C" CudaTraits<CudaHook::k_##symbol>::Function const crossover_export_##symbol; \
  CudaTraits<CudaHook::k_##symbol>::Function const crossover_export_##symbol =           \
      &CudaWrapper<CudaHook::k_##symbol>::Call;
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK

#define NCCL_HOOK(symbol, type, policy)                                                  \
  extern "C" NcclTraits<NcclHook::k_##symbol>::Function const crossover_export_##symbol; \
  NcclTraits<NcclHook::k_##symbol>::Function const crossover_export_##symbol =           \
      &NcclExport<NcclHook::k_##symbol>::Call;
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK

#define NVML_HOOK(symbol, memory)                                                         \
  extern "C" NvmlWrapper<NvmlHook::k_##symbol>::Function const crossover_export_##symbol; \
  NvmlWrapper<NvmlHook::k_##symbol>::Function const crossover_export_##symbol =           \
      &NvmlWrapper<NvmlHook::k_##symbol>::Call;
#include "sidecar/hooks/nvml_hooks.def"
#undef NVML_HOOK

}  // namespace crossover::hooks
