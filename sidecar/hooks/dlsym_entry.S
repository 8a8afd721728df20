// Implements void* dlsym(void* handle, const char* name): see hooks/dlsym.h. Restores the stack and the
// return address before it jumps on.

#if defined(__x86_64__)

        .text
        .globl  dlsym
        .type   dlsym, @function
        .p2align 4
dlsym:
        .cfi_startproc
        endbr64
        movq    (%rsp), %rdx                    // the caller
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp                        // aligned for the call
        .cfi_adjust_cfa_offset 8
        call    crossover_dlsym
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testq   %rax, %rax
        je      1f
        jmp     *%rax                           // the real dlsym, called by our caller
1:      movq    %rdx, %rax
        ret
        .cfi_endproc
        .size   dlsym, . - dlsym
        .hidden crossover_dlsym

#elif defined(__aarch64__)

        .text
        .globl  dlsym
        .type   dlsym, %function
        .p2align 4
dlsym:
        .cfi_startproc
        stp     x29, x30, [sp, -32]!
        .cfi_adjust_cfa_offset 32
        .cfi_rel_offset x29, 0
        .cfi_rel_offset x30, 8
        stp     x0, x1, [sp, 16]
        mov     x29, sp
        mov     x2, x30                         // the caller
        bl      crossover_dlsym
        mov     x9, x0
        mov     x10, x1
        ldp     x0, x1, [sp, 16]
        ldp     x29, x30, [sp], 32
        .cfi_adjust_cfa_offset -32
        .cfi_restore x29
        .cfi_restore x30
        cbz     x9, 1f
        br      x9                              // the real dlsym, called by our caller
1:      mov     x0, x10
        ret
        .cfi_endproc
        .size   dlsym, . - dlsym
        .hidden crossover_dlsym

#else
#error "no dlsym entry point for this architecture"
#endif

        .section .note.GNU-stack, "", %progbits
