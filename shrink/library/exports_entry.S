// Defines the exported functions. Programs that link NCCL directly bind to these.

#include "sidecar/hooks/export_hook.S"

        .text
#define SHRINK_HOOK(symbol, type, policy) export_hook symbol
#include "shrink/library/hooks.def"
#undef SHRINK_HOOK

        .section .note.GNU-stack, "", %progbits
