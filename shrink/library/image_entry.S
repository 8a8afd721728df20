// Holds the kernels as PTX, with the zero that the driver expects behind them.

        .section .rodata
        .globl  crossover_shrink_image
        .hidden crossover_shrink_image
        .type   crossover_shrink_image, %object
crossover_shrink_image:
        .incbin "shrink/kernels/kernels.ptx"
        .byte   0
        .size   crossover_shrink_image, . - crossover_shrink_image

        .section .note.GNU-stack, "", %progbits
