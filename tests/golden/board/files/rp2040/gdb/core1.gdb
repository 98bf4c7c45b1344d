# Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
#
# In gdb: source gdb/core1.gdb
# What core1 may touch. Breakpoints in memories that are read-only (ro) take hardware, and gdb writes none of
# them: load the image first.

set mem inaccessible-by-default off
mem auto
mem 0x10001000 0x10200000 ro
mem 0x20000000 0x20040000 rw
mem 0x20040000 0x20041000 rw
