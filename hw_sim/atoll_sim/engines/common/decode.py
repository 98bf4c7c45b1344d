# SPDX-License-Identifier: Apache-2.0
"""A command as the hardware sees it: 64 bytes with a check, and how a list may fail.

Reads docs/reef.md a second time on purpose: it shares no code with `encode`.
"""

import struct
from collections.abc import Sequence
from enum import IntEnum

WORDS = 16
BYTES = 4 * WORDS


class ErrorCode(IntEnum):
    """The accelerator's ERROR register."""

    NONE = 0
    READ_SLAVE = 1
    READ_DECODE = 2
    WRITE_SLAVE = 3
    WRITE_DECODE = 4
    BAD_OPCODE = 5
    BAD_FIELD = 6
    MISALIGNED = 7
    ABORTED = 8
    BAD_CHECK = 9


def check_of(words: Sequence[int]) -> int:
    """Return the check that belongs to 16 words, whatever stands in its place."""
    crc = 0xFFFF
    for byte in struct.pack("<16I", words[0] & 0xFFFF, *words[1:]):
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc
