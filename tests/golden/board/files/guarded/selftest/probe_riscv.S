/* Made by `atoll bsp`; edits are refused, see README.md. */
# Single accesses of a RISC-V core in machine mode: while one is under way a trap leads to the
# function's end, which returns 1.

    .option norvc
    .section .text.atoll_probe, "ax", @progbits
    .balign 256                     # what the strictest mtvec asks for
probe_trap:
    csrw    mtvec, t1
    li      a0, 1
    ret

# int32_t atoll_probe_load(uintptr_t address, uint32_t *value)
    .globl  atoll_probe_load
    .type   atoll_probe_load, @function
atoll_probe_load:
    la      t0, probe_trap
    csrrw   t1, mtvec, t0
    lw      t2, 0(a0)
    fence
    csrw    mtvec, t1
    sw      t2, 0(a1)
    li      a0, 0
    ret
    .size   atoll_probe_load, . - atoll_probe_load

# int32_t atoll_probe_store(uintptr_t address, uint32_t value)
    .globl  atoll_probe_store
    .type   atoll_probe_store, @function
atoll_probe_store:
    la      t0, probe_trap
    csrrw   t1, mtvec, t0
    sw      a1, 0(a0)
    fence
    csrw    mtvec, t1
    li      a0, 0
    ret
    .size   atoll_probe_store, . - atoll_probe_store
