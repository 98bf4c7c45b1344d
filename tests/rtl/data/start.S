/* SPDX-License-Identifier: Apache-2.0 */
# Entry of the test firmware: a stack, then main; main never returns.
.section .start, "ax"
.globl _start
_start:
  la sp, __stack_top
  call main
