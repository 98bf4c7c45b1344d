# Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# In gdb: source gdb/cpu.gdb
# What cpu may touch. Breakpoints in memories that are read-only (ro) take hardware, and gdb writes none of
# them: load the image first.

set mem inaccessible-by-default off
mem auto
mem 0x00000000 0x00100000 ro
mem 0x10000000 0x10010000 rw
mem 0x20000000 0x20040000 rw
mem 0x40000000 0x40001000 rw 32 nocache
mem 0xf0000000 0xf0001000 rw 32 nocache
