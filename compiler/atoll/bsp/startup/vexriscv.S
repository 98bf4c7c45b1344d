/* SPDX-License-Identifier: Apache-2.0 */
# VexRiscv as LiteX sets it up: reset and trap entries, and waiting for a device.
#
# Interrupts stay disabled: the core waits in `wfi` until an interrupt of `mie` is pending. Device lines
# are bits of its own registers 0xBC0 (mask) and 0xFC0 (pending), which together are the external
# interrupt. A trap is an exception, after which the core stands still. Needs the timer of a core-local
# interruptor at atoll_core_local.

    .equ    COMPARE, 0x4000
    .equ    TIME, 0xBFF8
    .equ    HALT, 0xC000
    .equ    TIMER, 0x80
    .equ    MASK, 0xBC0
    .equ    PENDING, 0xFC0

    .section .atoll.reset, "ax", @progbits
    .balign 16
    .globl  atoll_reset
    .type   atoll_reset, @function
atoll_reset:
    la      t0, atoll_interrupt
    csrw    mtvec, t0
    tail    atoll_start
    .size   atoll_reset, . - atoll_reset

    .balign 4
    .globl  atoll_interrupt
    .type   atoll_interrupt, @function
atoll_interrupt:
    csrr    t0, mcause
    la      t1, atoll_core_local + HALT
    sw      t0, 0(t1)
1:  wfi
    j       1b
    .size   atoll_interrupt, . - atoll_interrupt

# int32_t atoll_wait_interrupt(uint32_t line, uint32_t cycles), see runtime/atoll_runtime.h
    .section .text.atoll_wait_interrupt, "ax", @progbits
    .globl  atoll_wait_interrupt
    .type   atoll_wait_interrupt, @function
atoll_wait_interrupt:
    # t0: the line's bit.
    li      t0, 1
    sll     t0, t0, a0
    csrw    MASK, t0
    # Let the timer wake the core at the time now plus `cycles`.
    la      a2, atoll_core_local + TIME
1:  lw      a4, 4(a2)
    lw      a3, 0(a2)
    lw      a5, 4(a2)
    bne     a4, a5, 1b
    add     a3, a3, a1
    sltu    a5, a3, a1
    add     a4, a4, a5
    la      a2, atoll_core_local + COMPARE
    li      a5, -1
    sw      a5, 4(a2)
    sw      a3, 0(a2)
    sw      a4, 4(a2)
    li      t1, 0x800 | TIMER
    csrw    mie, t1
2:  wfi
    csrr    t2, PENDING
    and     t2, t2, t0
    bnez    t2, 3f
    csrr    t1, mip
    andi    t1, t1, TIMER
    beqz    t1, 2b
3:  sw      a5, 4(a2)
    csrw    mie, zero
    csrw    MASK, zero
    snez    a0, t2
    ret
    .size   atoll_wait_interrupt, . - atoll_wait_interrupt
