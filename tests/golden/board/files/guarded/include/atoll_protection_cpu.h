/* Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
 *
 * What the protection unit of 'cpu' lets through: 9 of 16 entries of its PMP.
 * The start-up code of this package loads the same table; this one is for start-up code of your own.
 */
#ifndef ATOLL_PROTECTION_CPU_H
#define ATOLL_PROTECTION_CPU_H

#include <stdint.h>

#define ATOLL_PROTECTION_CPU_ENTRIES 9

/* pmpcfg, a byte for each entry; pmpaddr. */
static const uint32_t atoll_protection_cpu[ATOLL_PROTECTION_CPU_ENTRIES][2] = {
    {UINT32_C(0x0000008D), UINT32_C(0x00008000)}, /* 0x00000000 to 0x0001ffff rx: cpu.code */
    {UINT32_C(0x00000089), UINT32_C(0x00040000)}, /* 0x00020000 to 0x000fffff ro: weights */
    {UINT32_C(0x0000009B), UINT32_C(0x00801FFF)}, /* 0x02000000 to 0x0200ffff rw: cpu.local */
    {UINT32_C(0x00000080), UINT32_C(0x04000040)}, /* 0x10000100 to 0x10000100 none: begin of the next */
    {UINT32_C(0x0000008B), UINT32_C(0x04003C40)}, /* 0x10000100 to 0x1000f0ff rw: cpu.stack, cpu.data, private */
    {UINT32_C(0x0000009B), UINT32_C(0x08007FFF)}, /* 0x20000000 to 0x2003ffff rw: shared */
    {UINT32_C(0x0000009B), UINT32_C(0x100001FF)}, /* 0x40000000 to 0x40000fff rw: npu.registers */
    {UINT32_C(0x0000009B), UINT32_C(0x3C0001FF)}, /* 0xf0000000 to 0xf0000fff rw: console */
    {UINT32_C(0x00000098), UINT32_C(0xFFFFFFFF)}, /* 0x00000000 to 0xffffffff none: all else */
};

#endif
