// Defines the exported functions. Programs that link the driver or NCCL directly bind to these.

#include "sidecar/hooks/export_hook.S"

        .text
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) export_hook symbol
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
#define NCCL_HOOK(symbol, type, policy) export_hook symbol
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK
#define NVML_HOOK(symbol, memory) export_hook symbol
#include "sidecar/hooks/nvml_hooks.def"
#undef NVML_HOOK

        .section .note.GNU-stack, "", %progbits
