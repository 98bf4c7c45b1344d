/* Made by `atoll bsp`; edits are refused, see README.md. */
# Single accesses of a RISC-V core in machine mode: while one is under way a trap leads to the
# function's end, with 1 as its result.

    .option norvc
    .section .text.atoll_probe, "ax", @progbits

# Have traps return to 9; t1 keeps where they led. The address goes to t4, the result is 0.
    .macro  begin_probe
    mv      t4, a0
    la      t3, 9f
    la      t0, probe_trap
    csrr    t1, mtvec
    csrw    mtvec, t0
    li      a0, 0
    .endm

    .macro  end_probe
9:  csrw    mtvec, t1
    ret
    .endm

    .balign 256                     # what the strictest mtvec asks for
probe_trap:
    csrw    mepc, t3
    li      a0, 1
    mret

# int32_t atoll_probe_load(uintptr_t address, uint32_t *value)
    .globl  atoll_probe_load
    .type   atoll_probe_load, @function
atoll_probe_load:
    begin_probe
    lw      t2, 0(t4)
    fence
    sw      t2, 0(a1)
    end_probe
    .size   atoll_probe_load, . - atoll_probe_load

# int32_t atoll_probe_store(uintptr_t address, uint32_t value)
    .globl  atoll_probe_store
    .type   atoll_probe_store, @function
atoll_probe_store:
    begin_probe
    sw      a1, 0(t4)
    fence
    end_probe
    .size   atoll_probe_store, . - atoll_probe_store
