# SPDX-License-Identifier: Apache-2.0
"""Read the tables of protection units as the hardware does, from the architecture manuals alone.

An access is a byte address and ``r``, ``w`` or ``x``.
"""

from collections.abc import Sequence


def pmp_allows(addresses: Sequence[int], configurations: Sequence[int], at: int, how: str) -> bool:
    """Tell what machine mode may do: the lowest entry that matches decides if it is locked."""
    for number, configuration in enumerate(configurations):
        mode = configuration >> 3 & 3
        low, high = 0, 0
        if mode == 1:
            low, high = addresses[number - 1] * 4 if number else 0, addresses[number] * 4
        elif mode == 2:
            low, high = addresses[number] * 4, addresses[number] * 4 + 4
        elif mode == 3:
            ones = 0
            while addresses[number] >> ones & 1 and ones < 32:
                ones += 1
            size = 1 << ones + 3
            low = addresses[number] * 4 // size * size
            high = low + size
        if low <= at < high:
            return not configuration >> 7 or bool(configuration >> "rwx".index(how) & 1)
    return True


def mpu_v7_allows(table: Sequence[tuple[int, int]], at: int, how: str) -> bool:
    """Tell what privileged code may do without background map: the highest region decides."""
    for base, attributes in reversed(table):
        size = 2 << (attributes >> 1 & 31)
        assert base % size == 0
        if not attributes & 1 or not base <= at < base + size:
            continue
        if size >= 256 and attributes >> 8 + (at - base) * 8 // size & 1:
            continue
        access = attributes >> 24 & 7
        if how == "x":
            return not attributes >> 28 & 1 and access in (1, 2, 3, 5, 6, 7)
        return access in ((1, 2, 3) if how == "w" else (1, 2, 3, 5, 6, 7))
    return False


def mpu_v8_allows(table: Sequence[tuple[int, int]], at: int, how: str) -> bool:
    """Tell likewise; two regions that match are a fault."""
    matches = [
        base for base, limit in table if limit & 1 and base & ~31 <= at <= (limit & ~31 | 31)
    ]
    if len(matches) != 1:
        return False
    if how == "x":
        return not matches[0] & 1
    return how == "r" or not matches[0] >> 2 & 1


def mpu_v7_kept(table: Sequence[tuple[int, int]], at: int) -> str:
    """Tell how a data cache keeps what one may touch: "" if not, ``through``, or ``back``."""
    for base, attributes in reversed(table):
        size = 2 << (attributes >> 1 & 31)
        inside = attributes & 1 and base <= at < base + size
        if inside and not attributes >> 8 + (at - base) * 8 // size & 1:
            kind = attributes >> 19 & 7, attributes >> 17 & 1, attributes >> 16 & 1
            shared = attributes >> 18 & 1
            kept = {(0, 1, 0): "through", (0, 1, 1): "back", (1, 1, 1): "back"}
            return "" if shared else kept.get(kind, "")
    return ""


def mpu_v8_kept(table: Sequence[tuple[int, int]], memories: int, at: int) -> str:
    """Tell likewise, by the outer half of an attribute of MAIR0; transient ones are none here."""
    for base, limit in table:
        if limit & 1 and base & ~31 <= at <= (limit & ~31 | 31):
            attribute = memories >> 8 * (limit >> 1 & 7) & 0xFF
            assert attribute in (0x04, 0x44, 0xAA, 0xFF)
            return {0xAA: "through", 0xFF: "back"}.get(attribute, "")
    return ""
