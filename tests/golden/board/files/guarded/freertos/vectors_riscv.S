# Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# All interrupts and exceptions to the port, which looks at mcause; for cores that jump by the cause, too.

    .section .text.atoll_freertos_vectors, "ax", @progbits
    .balign 256
    .option push
    .option norvc
vectors:
    .rept   32
    j       freertos_risc_v_trap_handler
    .endr
    .option pop

# void atoll_freertos_vectors(void): interrupts come, once the kernel lets them.
    .globl  atoll_freertos_vectors
    .type   atoll_freertos_vectors, @function
atoll_freertos_vectors:
    la      t0, vectors
    ori     t0, t0, 1
    csrw    mtvec, t0
    ret
    .size   atoll_freertos_vectors, . - atoll_freertos_vectors
