/* Made by `atoll bsp`; edits are refused, see README.md. */
@ Single accesses of a Cortex-M: while one is under way all faults have a handler that returns behind
@ it, with 1 as the function's result.

    .syntax unified
    .thumb

    .equ    VTOR, 0xE000ED08
    .equ    CFSR, 0xE000ED28
    .equ    HFSR, 0xE000ED2C
    .equ    THUMB, 0x01000000        @ xPSR of a thread between two instructions

@ Have faults lead to probe_fault; r4 keeps where they led. The address goes to r2, the result is 0.
    .macro  begin_probe
    mov     r2, r0
    ldr     r0, =VTOR
    ldr     r4, [r0]
    ldr     r3, =probe_vectors
    str     r3, [r0]
    dsb
    isb
    movs    r0, #0
    .endm

    .section .rodata.atoll_probe, "a", %progbits
    .balign 512
probe_vectors:
    .rept   80
    .word   probe_fault
    .endr

    .section .text.atoll_probe, "ax", %progbits
    .balign 4
    .type   probe_fault, %function
    .thumb_func
probe_fault:
    @ r0: what the core stacked, of the thread's stack or of the main one.
    mov     r0, lr
    movs    r1, #4
    tst     r0, r1
    beq     1f
    mrs     r0, psp
    b       2f
1:  mrs     r0, msp
2:  movs    r1, #1
    str     r1, [r0]                 @ r0
    ldr     r1, =probe_end
    str     r1, [r0, #24]            @ pc
    ldr     r1, =THUMB
    str     r1, [r0, #28]            @ xPSR
#if __ARM_ARCH >= 7
    ldr     r1, =CFSR
    ldr     r2, [r1]
    str     r2, [r1]                 @ ones clear what is set
    ldr     r1, =HFSR
    ldr     r2, [r1]
    str     r2, [r1]
#endif
    bx      lr
    .size   probe_fault, . - probe_fault

@ int32_t atoll_probe_load(uintptr_t address, uint32_t *value)
    .globl  atoll_probe_load
    .type   atoll_probe_load, %function
    .thumb_func
atoll_probe_load:
    push    {r4, lr}
    begin_probe
    ldr     r3, [r2]
    dsb
    str     r3, [r1]
    b       probe_end
    .size   atoll_probe_load, . - atoll_probe_load

@ int32_t atoll_probe_store(uintptr_t address, uint32_t value)
    .globl  atoll_probe_store
    .type   atoll_probe_store, %function
    .thumb_func
atoll_probe_store:
    push    {r4, lr}
    begin_probe
    str     r1, [r2]
    dsb
    isb
probe_end:
    ldr     r2, =VTOR
    str     r4, [r2]
    dsb
    isb
    pop     {r4, pc}
    .ltorg
    .size   atoll_probe_store, . - atoll_probe_store
