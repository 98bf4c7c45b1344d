# SPDX-License-Identifier: Apache-2.0
"""Lines of a self-test as its image prints them, and how a bad serial line leaves them."""

import random
from collections.abc import Sequence

from atoll.api.selftests import SelftestCheck
from atoll.diagnostics.errors import UsageError
from atoll_selftest.api import judge


def checked(*lines: str) -> str:
    """Return a log of these lines, each with its CRC-32, bit by bit (RFC 1662, C.3)."""
    return "".join(f"{line} crc=0x{crc(line.encode()):08X}\n" for line in lines)


def crc(data: bytes) -> int:
    found = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            odd = (found ^ byte >> bit) & 1
            found = found >> 1 ^ (0xEDB88320 if odd else 0)
    return found ^ 0xFFFFFFFF


def log_of(results: Sequence[str], *, failed: int = 0, chip: str = "lagoon") -> str:
    """Return the log of a self-test with these results."""
    about = f"version=2 chip={chip} tests={len(results)}"
    numbered = (f"selftest {number} {result}" for number, result in enumerate(results, 1))
    return checked(f"selftest begin {about}", *numbered, f"selftest end {about} failed={failed}")


def damage(data: bytes, share: float, seed: int) -> bytes:
    """Change or lose a share of all bytes."""
    dice = random.Random(seed)
    made = bytearray()
    for byte in data:
        if dice.random() >= share:
            made.append(byte)
        elif dice.random() < 0.5:
            made.append(byte ^ dice.randrange(1, 256))
    return bytes(made)


def judged(log: bytes) -> SelftestCheck | None:
    """Judge a log; None if neither its first nor its last line arrived whole."""
    try:
        return judge(f"{log.decode(errors='replace')}\n", None)
    except UsageError as refused:
        if "arrived whole" in str(refused) or "has no line" in str(refused):
            return None
        raise
