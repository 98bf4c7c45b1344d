/* SPDX-License-Identifier: Apache-2.0 */
// Cortex-A in its 64-bit state: reset, exceptions, and waiting for a device.
//
// Runs at the exception level at which it is entered, alone: other cores of the cluster sleep. No
// interrupt controller is used: whoever waits for a device looks at it when the time is over. An
// exception is the end: the core stands still.

    .arch   armv8-a

    .section .atoll.reset, "ax", %progbits
    .balign 2048
    .globl  atoll_vectors
    .type   atoll_vectors, %function
atoll_vectors:
    .rept   16
    b       atoll_interrupt
    .balign 128
    .endr
    .size   atoll_vectors, . - atoll_vectors

    .globl  atoll_reset
    .type   atoll_reset, %function
atoll_reset:
    msr     daifset, #15
    mrs     x0, mpidr_el1
    tst     x0, #0xFF
    b.ne    atoll_interrupt
    ldr     x1, =atoll_vectors
    mrs     x0, CurrentEL
    cmp     x0, #8
    b.hi    3f
    b.eq    2f
    // Let the core use its floating-point and vector registers.
    mov     x2, #3 << 20
    msr     cpacr_el1, x2
    msr     vbar_el1, x1
    b       1f
2:  mrs     x2, cptr_el2
    bic     x2, x2, #1 << 10
    msr     cptr_el2, x2
    msr     vbar_el2, x1
    b       1f
3:  msr     cptr_el3, xzr
    msr     vbar_el3, x1
1:  isb
    b       atoll_start
    .ltorg
    .size   atoll_reset, . - atoll_reset

    .globl  atoll_interrupt
    .type   atoll_interrupt, %function
atoll_interrupt:
1:  wfi
    b       1b
    .size   atoll_interrupt, . - atoll_interrupt

// int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles), see runtime/atoll_runtime.h
    .section .text.atoll_wait_interrupt, "ax", %progbits
    .globl  atoll_wait_interrupt
    .type   atoll_wait_interrupt, %function
atoll_wait_interrupt:
1:  subs    w1, w1, #1
    b.ne    1b
    mov     w0, #0
    ret
    .size   atoll_wait_interrupt, . - atoll_wait_interrupt
