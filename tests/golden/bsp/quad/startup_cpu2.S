# Made from quad.yaml by `atoll build`; edits are lost.
#
# From reset to atoll_core_main: stacks, initialised data, zeroed data.

    .option norelax

    .macro copy load, start, end
    la      a0, \load
    la      a1, \start
    la      a2, \end
    bgeu    a1, a2, 2f
1:  lw      a3, 0(a0)
    sw      a3, 0(a1)
    addi    a0, a0, 4
    addi    a1, a1, 4
    bltu    a1, a2, 1b
2:
    .endm

    .macro paint limit, top
    la      a0, \limit
    la      a2, \top
1:  addi    a2, a2, -4
    sw      a1, 0(a2)
    bgtu    a2, a0, 1b
    .endm

    .section .text.atoll_start, "ax", @progbits
    .globl  atoll_start
    .type   atoll_start, @function
atoll_start:
    la      gp, __global_pointer$
    la      sp, atoll_stack_top

    # Paint all stacks; what is no longer painted after a run was used.
    li      a1, 0xA5A5A5A5
    paint   atoll_stack_limit, atoll_stack_top

    copy    atoll_data_load, atoll_data_start, atoll_data_end

    la      a0, atoll_bss_start
    la      a1, atoll_bss_end
    bgeu    a0, a1, 2f
1:  sw      zero, 0(a0)
    addi    a0, a0, 4
    bltu    a0, a1, 1b
2:
    tail    atoll_core_main
    .size   atoll_start, . - atoll_start
