/* SPDX-License-Identifier: Apache-2.0 */
@ Cortex-M: vector table, reset, faults, and waiting for a device. Line n is external interrupt n.
@
@ Interrupts stay disabled (PRIMASK): the core sleeps in `wfi`, which returns as soon as an interrupt that
@ the NVIC enables is pending. A fault is the end: the core stands still. Needs SysTick.

    .syntax unified
    .thumb

    .equ    VTOR, 0xE000ED08
    .equ    CPACR, 0xE000ED88
    .equ    SYSTICK, 0xE000E010      @ CSR, RVR, CVR
    .equ    ICSR, 0xE000ED04
    .equ    ENABLE, 0xE000E100       @ NVIC_ISER
    .equ    DISABLE, 0xE000E180      @ NVIC_ICER
    .equ    PENDING, 0xE000E200      @ NVIC_ISPR
    .equ    FORGET, 0xE000E280       @ NVIC_ICPR
    .equ    TICK_PENDING, 1 << 26
    .equ    TICK_FORGET, 1 << 25
    .equ    MOST_TICKS, 0xFFFFFF
    .equ    LINES, 32
    .equ    NO_LINE, 240
    .equ    EVENT, 257
    .equ    SCR, 0xE000ED10
    .equ    EVENT_ON_PENDING, 1 << 4

    .section .atoll.reset, "ax", %progbits
    .balign 256
    .globl  atoll_vectors
    .type   atoll_vectors, %object
atoll_vectors:
    .word   atoll_stack_top
    .word   atoll_reset
    .word   atoll_interrupt
    .word   atoll_fault
    .rept   12 + LINES
    .word   atoll_interrupt
    .endr
    .size   atoll_vectors, . - atoll_vectors

    .globl  atoll_reset
    .type   atoll_reset, %function
    .thumb_func
atoll_reset:
    cpsid   i
    ldr     r0, =VTOR
    ldr     r1, =atoll_vectors
    str     r1, [r0]
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    @ Let the core use its floating-point or vector registers.
    ldr     r0, =CPACR
    ldr     r1, [r0]
    orr     r1, r1, #0xF00000
    str     r1, [r0]
    dsb
    isb
#endif
    ldr     r0, =atoll_start
    bx      r0
    .ltorg
    .size   atoll_reset, . - atoll_reset

    .globl  atoll_interrupt
    .type   atoll_interrupt, %function
    .thumb_func
atoll_interrupt:
1:  wfi
    b       1b
    .size   atoll_interrupt, . - atoll_interrupt

@ What a fault leads to, unless other start-up code of the image has it.
    .weak   atoll_fault
    .thumb_set atoll_fault, atoll_interrupt

@ int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles), see runtime/atoll_runtime.h
    .section .text.atoll_wait_interrupt, "ax", %progbits
    .globl  atoll_wait_interrupt
    .type   atoll_wait_interrupt, %function
    .thumb_func
atoll_wait_interrupt:
    push    {r4, r5, r6, r7, lr}
    @ r2: the line's bit, r4: its word of NVIC_ISPR; each has those of 32 lines. What it was pending
    @ for is over; a line that is high pends anew.
    movs    r2, #31
    ands    r2, r0
    movs    r3, #1
    cmp     r0, #NO_LINE
    blo     0f
    ldr     r3, =EVENT
    cmp     r0, r3
    beq     6f
    movs    r0, #0
    movs    r3, #0
0:
    lsls    r3, r3, r2
    mov     r2, r3
    lsrs    r4, r0, #5
    lsls    r4, r4, #2
    ldr     r3, =PENDING
    adds    r4, r4, r3
    movs    r3, #FORGET - PENDING
    str     r2, [r4, r3]
    ldr     r3, =ENABLE - PENDING
    str     r2, [r4, r3]
    ldr     r3, =SYSTICK
    ldr     r5, =ICSR
1:  @ r6: as many cycles of what is left in r1 as SysTick counts.
    ldr     r6, =MOST_TICKS
    cmp     r1, r6
    bhs     2f
    mov     r6, r1
2:  subs    r1, r1, r6
    str     r6, [r3, #4]
    movs    r7, #0
    str     r7, [r3, #8]
    movs    r7, #7
    str     r7, [r3]
3:  wfi
    ldr     r0, [r4]
    ands    r0, r2
    bne     4f
    ldr     r6, [r5]
    ldr     r7, =TICK_PENDING
    tst     r6, r7
    beq     3b
    ldr     r7, =TICK_FORGET
    str     r7, [r5]
    cmp     r1, #0
    bne     1b
4:  movs    r7, #0
    str     r7, [r3]
    ldr     r7, =TICK_FORGET
    str     r7, [r5]
    ldr     r3, =DISABLE - PENDING
    str     r2, [r4, r3]
    cmp     r0, #0
    beq     5f
    movs    r0, #1
5:  pop     {r4, r5, r6, r7, pc}

6:  @ Sleep in `wfe`, which SysTick ends by becoming pending, once it has counted at most MOST_TICKS.
    ldr     r4, =SCR
    ldr     r5, [r4]
    movs    r6, #EVENT_ON_PENDING
    orrs    r6, r5
    str     r6, [r4]
    ldr     r3, =SYSTICK
    ldr     r6, =MOST_TICKS
    cmp     r1, r6
    blo     7f
    mov     r1, r6
7:  str     r1, [r3, #4]
    movs    r7, #0
    str     r7, [r3, #8]
    movs    r7, #7
    str     r7, [r3]
    wfe
    movs    r7, #0
    str     r7, [r3]
    str     r5, [r4]
    ldr     r3, =ICSR
    ldr     r6, [r3]
    ldr     r7, =TICK_FORGET
    str     r7, [r3]
    ldr     r7, =TICK_PENDING
    movs    r0, #1
    tst     r6, r7
    beq     5b
    movs    r0, #0
    b       5b
    .ltorg
    .size   atoll_wait_interrupt, . - atoll_wait_interrupt
