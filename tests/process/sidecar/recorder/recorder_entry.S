// The recorder's exported names are jumps, so that the return address stays the caller's.
        .macro  entry symbol
        .globl  \symbol
        .type   \symbol, @function
\symbol:
        movq    recorder_\symbol@GOTPCREL(%rip), %r11
        jmp     *(%r11)
        .size   \symbol, . - \symbol
        .endm

        .text
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) entry symbol
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
#define RECORDED(symbol, type) entry symbol
#include "recorded.def"
#undef RECORDED
#define PASSED(symbol) entry symbol
#include <passed.def>
#undef PASSED

        .section .note.GNU-stack, "", @progbits
