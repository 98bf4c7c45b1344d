"""The mailbox through which the host has another core run one operator at a time.

Host and core see the same registers at the same address, each through a port of its own:

| register | host | core |
|---|---|---|
| ID | reads `ID` | likewise |
| COMMAND | writes a step's number, unless BUSY: sets BUSY, interrupts the core | reads it |
| STATUS | reads BUSY (bit 0) and DONE (bit 1) | likewise |
| RESULT | reads what the core wrote | writes: BUSY falls, DONE is set, the host interrupted |
| CLEAR | writes: DONE and the host's interrupt fall | refused |
"""

from types import MappingProxyType

ID = 0x61744D42
REGISTERS = MappingProxyType(
    {"ID": 0x00, "COMMAND": 0x04, "STATUS": 0x08, "RESULT": 0x0C, "CLEAR": 0x10}
)
SIZE = 4096
LINE = 3
"""Interrupt line at the core that stays raised while BUSY."""
