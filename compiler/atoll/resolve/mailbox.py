# SPDX-License-Identifier: Apache-2.0
"""The mailbox through which the host has another core run one operator at a time.

It is two halves of `SIDE` bytes in a memory (``bsp/drivers/shared_mailbox.h``), or registers. Host
and core see the same registers at the same address, each through a port of its own:

| register | host | core |
|---|---|---|
| ID | reads `ID` | likewise |
| COMMAND | writes a command, unless BUSY: sets BUSY, interrupts the core | reads it |
| STATUS | reads BUSY (bit 0) and DONE (bit 1) | likewise |
| RESULT | reads what the core wrote | writes: BUSY falls, DONE is set, the host interrupted |
| CLEAR | writes: DONE and the host's interrupt fall | refused |
| RELEASE | writes 1: the core, which its host loads, leaves reset | refused |

Only the mailbox of a core that stays in reset until its host has loaded it has RELEASE.
"""

from collections.abc import Mapping
from types import MappingProxyType

ID = 0x61744D42
REGISTERS = MappingProxyType(
    {"ID": 0x00, "COMMAND": 0x04, "STATUS": 0x08, "RESULT": 0x0C, "CLEAR": 0x10}
)
RELEASE = MappingProxyType({"RELEASE": 0x14})
SIZE = 4096
LINE = 3
"""Interrupt line at the core that stays raised while BUSY."""
SIDE = 64
"""Bytes that host and core each write of a mailbox in memory, aligned to as many."""
MODEL_SHIFT = 16
"""A command is a step's number below this bit, above it the model's position in the image."""


def registers_of(*, held: bool) -> Mapping[str, int]:
    """Return the registers of a mailbox by name: those of a core that stays in reset are more."""
    return {**REGISTERS, **RELEASE} if held else REGISTERS


def core_command(position: int, number: int) -> int:
    """Return the command that has a core run step `number` of a model.

    Args:
        position: of the model among those of the firmware, 0..65535.
        number: of the step, 0..65535 as in trace events.
    """
    assert 0 <= number < 1 << MODEL_SHIFT, f"step {number}"
    assert 0 <= position < 1 << MODEL_SHIFT, f"model {position}"
    return position << MODEL_SHIFT | number


def step_function(model: str, core: str) -> str:
    """Name the function of a core's image that runs a step of a model, given its number."""
    return f"{model}_{core}_step"
