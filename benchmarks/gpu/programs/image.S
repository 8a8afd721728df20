/* The images of image.h. The build says where they are: GPU_KERNELS_PTX, and GPU_KERNELS_FATBIN where nvcc made it. */
        .section .rodata
        .balign 64
        .globl  kPtx
kPtx:
        .incbin GPU_KERNELS_PTX
        .byte   0
        .balign 64
        .globl  kFatbin
kFatbin:
#ifdef GPU_KERNELS_FATBIN
        .incbin GPU_KERNELS_FATBIN
#endif
        .globl  kFatbinEnd
kFatbinEnd:
        .byte   0
        .section .note.GNU-stack, "", @progbits
