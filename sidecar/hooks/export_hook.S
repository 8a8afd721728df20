// Defines the assembler macro export_hook, which defines an exported function: a jump to the wrapper of its row.
// So it needs no prototype.

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
