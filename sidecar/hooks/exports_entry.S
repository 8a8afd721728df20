// Defines the exported functions. Programs that link the driver or NCCL directly bind to these. Each is a
// jump to the wrapper of its row, so it needs no prototype.

        .macro  export_hook symbol
        .globl  \symbol
        .p2align 4
#if defined(__x86_64__)
        .type   \symbol, @function
\symbol:
        endbr64
        jmp     *crossover_export_\symbol(%rip)
#elif defined(__aarch64__)
        .type   \symbol, %function
\symbol:
        adrp    x16, crossover_export_\symbol
        ldr     x16, [x16, :lo12:crossover_export_\symbol]
        br      x16
#else
#error "no exports for this architecture"
#endif
        .size   \symbol, . - \symbol
        .hidden crossover_export_\symbol
        .endm

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
