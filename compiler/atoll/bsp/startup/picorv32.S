/* SPDX-License-Identifier: Apache-2.0 */
# PicoRV32: reset and interrupt entries, and waiting for a device.
#
# Interrupts stay masked: the core sleeps in `waitirq`, which returns as soon as any line is
# pending, masked or not. Line 0 is the core's own timer and stays pending until an interrupt is
# taken, so a timeout is cleared by unmasking line 0 for one instruction. Needs ENABLE_IRQ and
# ENABLE_IRQ_TIMER, PROGADDR_IRQ = reset + 0x10, and device lines that are not latched.

    .macro timer rd, rs
    .insn r 0x0b, 6, 5, \rd, \rs, x0
    .endm
    .macro waitirq rd
    .insn r 0x0b, 4, 4, \rd, x0, x0
    .endm
    .macro maskirq rd, rs
    .insn r 0x0b, 6, 3, \rd, \rs, x0
    .endm
    .macro retirq
    .insn r 0x0b, 0, 2, x0, x0, x0
    .endm

    .section .atoll.reset, "ax", @progbits
    .balign 16
    .globl  atoll_reset
    .type   atoll_reset, @function
atoll_reset:
    tail    atoll_start
    .size   atoll_reset, . - atoll_reset

    .balign 16
    .globl  atoll_interrupt
    .type   atoll_interrupt, @function
atoll_interrupt:
    retirq
    .size   atoll_interrupt, . - atoll_interrupt

# int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles), see runtime/atoll_runtime.h
    .section .text.atoll_wait_interrupt, "ax", @progbits
    .globl  atoll_wait_interrupt
    .type   atoll_wait_interrupt, @function
atoll_wait_interrupt:
    li      t0, 1
    sll     t0, t0, a0
    timer   x0, a1
1:  waitirq t1
    and     t2, t1, t0
    bnez    t2, 2f
    andi    t1, t1, 1
    beqz    t1, 1b
2:  timer   x0, x0
    li      t0, -2
    maskirq x0, t0
    nop
    li      t0, -1
    maskirq x0, t0
    snez    a0, t2
    ret
    .size   atoll_wait_interrupt, . - atoll_wait_interrupt
