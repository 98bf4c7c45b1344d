# Made from atoll2.yaml by `atoll build`; edits are lost.
#
# From reset to main: stacks, initialised data, zeroed data.

    .option norelax

    # Words from \load to \start, up to \end.
    .macro copy load, start, end
    la      a0, \load
    la      a1, \start
    la      a2, \end
    sub     a2, a2, a1
    li      t0, 16
    bltu    a2, t0, 2f
1:  lw      a3, 0(a0)
    lw      a4, 4(a0)
    lw      a5, 8(a0)
    lw      t1, 12(a0)
    sw      a3, 0(a1)
    sw      a4, 4(a1)
    sw      a5, 8(a1)
    sw      t1, 12(a1)
    addi    a0, a0, 16
    addi    a1, a1, 16
    addi    a2, a2, -16
    bgeu    a2, t0, 1b
2:  blez    a2, 4f
3:  lw      a3, 0(a0)
    sw      a3, 0(a1)
    addi    a0, a0, 4
    addi    a1, a1, 4
    addi    a2, a2, -4
    bgtz    a2, 3b
4:
    .endm

    # The word in a1 from \start to \end.
    .macro fill start, end
    la      a0, \start
    la      a2, \end
    sub     a2, a2, a0
    li      t0, 16
    bltu    a2, t0, 2f
    .balign 4
1:  sw      a1, 0(a0)
    sw      a1, 4(a0)
    sw      a1, 8(a0)
    sw      a1, 12(a0)
    addi    a0, a0, 16
    addi    a2, a2, -16
    bgeu    a2, t0, 1b
2:  blez    a2, 4f
3:  sw      a1, 0(a0)
    addi    a0, a0, 4
    addi    a2, a2, -4
    bgtz    a2, 3b
4:
    .endm

    .section .text.atoll_start, "ax", @progbits
    .globl  atoll_start
    .type   atoll_start, @function
atoll_start:
    la      gp, __global_pointer$
    la      sp, atoll_stack_top

#ifndef ATOLL_STACKS_UNPAINTED
    # Paint all stacks; what is no longer painted after a run was used.
    li      a1, 0xA5A5A5A5
    fill    atoll_stack_limit, atoll_stack_top
#endif

    copy    atoll_data_load, atoll_data_start, atoll_data_end

    li      a1, 0
    fill    atoll_bss_start, atoll_bss_end
    call    main
    tail    atoll_exit
    .size   atoll_start, . - atoll_start
