# SPDX-License-Identifier: Apache-2.0
"""What program and bench agree on: addresses, parts of the program, numbers."""

from collections.abc import Mapping
from enum import IntEnum


class Part(IntEnum):
    """What the program does in a run."""

    LOADS_AND_STORES = 0
    INTERRUPTS = 1
    FAILED_LOAD = 2
    FAILED_STORE = 3
    FAILED_FETCH = 4
    ILLEGAL_INSTRUCTION = 5


CODE, DATA, PEER, PROBE, BROKEN = 0x8010_0000, 0xA000_0000, 0xC000_0000, 0xC000_1000, 0xC000_2000
"""All in the upper half, which no data cache of a core that ships keeps."""

MEMORY = 64 * 1024
"""Bytes of the memory of code, and of that of data."""

PROBE_SIZE = 16
REGISTERS = {"PART": 0, "RESULT": 4, "RAISE": 8, "LEAVE": 12}
NO_LINE = 255
LONG_WAIT, SHORT_WAIT = 100_000, 500
PATTERN = 0x9A7B_5C81
STEPS = {1: 0x1B, 2: 0x2D17, 4: 0x1357_9BD1}
"""By how much the value that is stored grows with the address, by the size of the access."""


def header(lines: Mapping[str, int]) -> str:
    """Return ``core_test.h``; `lines` are those of the core by name."""
    values = {
        **{f"PART_{part.name}": int(part) for part in Part},
        **{"PEER_ORIGIN": PEER, "PROBE_ORIGIN": PROBE, "BROKEN_ORIGIN": BROKEN},
        **REGISTERS,
        **{"PROBE_SIZE": PROBE_SIZE, "PATTERN": PATTERN, "NO_LINE": NO_LINE},
        **{"BYTE_STEP": STEPS[1], "HALF_STEP": STEPS[2], "WORD_STEP": STEPS[4]},
        **{"LONG_WAIT": LONG_WAIT, "SHORT_WAIT": SHORT_WAIT},
        **lines,
    }
    return "".join(f"#define {name} {value:#x}u\n" for name, value in values.items())


def stored_value(address: int, size: int) -> int:
    """Return what the program stores at `address`, as an unsigned number of `size` bytes."""
    return (PATTERN + STEPS[size] * (address - PROBE)) & ((1 << (8 * size)) - 1)
