/* SPDX-License-Identifier: Apache-2.0 */
# RISC-V cores whose device lines are the fast interrupts 16 to 31 of `mip`, such as Ibex and
# CV32E40P: reset and trap entries, and waiting for a device. Line n is interrupt n + 14.
#
# Interrupts stay disabled: the core sleeps in `wfi`, which returns as soon as an interrupt of `mie` is
# pending. A trap is an exception, after which the core stands still. Needs the timer of a core-local
# interruptor at atoll_core_local, its comparator at atoll_core_compare, and reset at the end of the
# vector table.

    .equ    LINES, 14
    .equ    TIME, 0xBFF8
    .equ    HALT, 0xC000
    .equ    TIMER, 0x80

    .section .atoll.reset, "ax", @progbits
    .balign 256
    .globl  atoll_vectors
    .type   atoll_vectors, @function
atoll_vectors:
    .option push
    .option norvc
    .rept   32
    j       atoll_interrupt
    .endr
    .option pop
    .size   atoll_vectors, . - atoll_vectors

    .globl  atoll_reset
    .type   atoll_reset, @function
atoll_reset:
    la      t0, atoll_vectors
    ori     t0, t0, 1
    csrw    mtvec, t0
#ifdef __riscv_flen
    # Let the core use its floating-point registers.
    li      t0, 0x2000
    csrs    mstatus, t0
#endif
#ifdef __riscv_vector
    # Let the core use its vector registers.
    li      t0, 0x200
    csrs    mstatus, t0
#endif
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
    addi    t1, a0, LINES
    li      t0, 1
    sll     t0, t0, t1
    # Let the timer wake the core at the time now plus `cycles`.
    la      a2, atoll_core_local + TIME
#if __riscv_xlen == 64
    ld      a3, 0(a2)
    slli    a1, a1, 32
    srli    a1, a1, 32
    add     a3, a3, a1
    srli    a4, a3, 32
#else
1:  lw      a4, 4(a2)
    lw      a3, 0(a2)
    lw      a5, 4(a2)
    bne     a4, a5, 1b
    add     a3, a3, a1
    sltu    a5, a3, a1
    add     a4, a4, a5
#endif
    la      a2, atoll_core_compare
    li      a5, -1
    sw      a5, 4(a2)
    sw      a3, 0(a2)
    sw      a4, 4(a2)
    ori     t1, t0, TIMER
    csrw    mie, t1
2:  wfi
    csrr    t1, mip
    and     t2, t1, t0
    bnez    t2, 3f
    andi    t1, t1, TIMER
    beqz    t1, 2b
3:  sw      a5, 4(a2)
    csrw    mie, zero
    snez    a0, t2
    ret
    .size   atoll_wait_interrupt, . - atoll_wait_interrupt
