// Holds the fatbin of kernels.cu, or nothing: see image.h.
    .section .rodata
    .balign 16
    .globl trainer_fatbin
    .globl trainer_fatbin_size
trainer_fatbin:
#ifdef TRAINER_FATBIN
    .incbin TRAINER_FATBIN
#endif
trainer_fatbin_end:
    .byte 0
    .balign 8
trainer_fatbin_size:
    .quad trainer_fatbin_end - trainer_fatbin
    .section .note.GNU-stack, "", %progbits
