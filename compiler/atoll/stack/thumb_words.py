# SPDX-License-Identifier: Apache-2.0
"""Words of Thumb code that are no plain instructions: tables, and what Capstone does not know."""

from atoll.records import dataclass
from atoll.stack.instruction import SP, Instruction, Kind, Reader

_WORD = 4


@dataclass(frozen=True, slots=True)
class Table:
    """Where a switch leads, and the first address past its table."""

    targets: tuple[int, ...]
    end: int


def read_table(begin: int, size: int, read: Reader) -> Table:
    """Read the table behind `tbb` or `tbh`: distances forward, all of them in front of its targets.

    It may be shorter than what is read; it is never longer.
    """
    targets: list[int] = []
    place = begin
    while (not targets or place < min(targets)) and len(word := read(place, size)) == size:
        targets.append(begin + 2 * int.from_bytes(word, "little"))
        place += size
    return Table(tuple(sorted({*targets})), place + 1 & ~1)


HELPERS = {
    "__gnu_thumb1_case_uqi": (1, False),
    "__gnu_thumb1_case_sqi": (1, True),
    "__gnu_thumb1_case_uhi": (2, False),
    "__gnu_thumb1_case_shi": (2, True),
    "__gnu_thumb1_case_si": (4, True),
}
"""Switches of libgcc for Armv6-M: bytes of an entry, and whether it is signed."""


def read_signed(begin: int, size: int, signed: bool, span: range, read: Reader) -> Table:
    """Read the table behind a call of such a helper; it ends where an entry leaves the function.

    It may be longer than what the program has of it; it is never shorter.
    """
    first = begin + 3 & ~3 if size == _WORD else begin
    scale = 1 if size == _WORD else 2
    targets: list[int] = []
    place = first
    while len(word := read(place, size)) == size:
        target = first + scale * int.from_bytes(word, "little", signed=signed) & ~1
        past = [each for each in targets if each > begin]
        if target not in span or begin <= target <= place or (past and place >= min(past)):
            break
        targets.append(target)
        place += size
    return Table(tuple(sorted({*targets})), place + 1 & ~1)


def unknown(code: bytes, address: int, anything: tuple[int, ...]) -> Instruction:
    """Return what Capstone does not know: mostly Armv8.1-M, that is loops, choices and vectors.

    All of it may change any register but the stack pointer, which only vector accesses with
    write-back move. Loops (Armv8-M manual, "Low overhead loops") go back by `LE`, and forward by
    `WLS` where there is nothing to do. Branches of its future, and what has 16 bits, are not known.
    """
    first, second = int.from_bytes(code[:2], "little"), int.from_bytes(code[2:4], "little")
    if first >> 11 < 0b11101 or len(code) < 4:
        return Instruction(address=address, size=2, kind=Kind.OTHER, clobbers=(*anything, SP))
    moves = first >> 9 == 0b1110110 and first & 0x2F == 0x2D
    future = first >> 11 == 0b11110 and first >> 7 & 0xF and second & 0xD001 == 0xC001
    if moves or future:
        return Instruction(address=address, size=4, kind=Kind.OTHER, clobbers=(*anything, SP))
    if first & 0xFF80 == 0xF000 and second & 0xF001 == 0xC001:
        distance = (second >> 1 & 0x3FF) << 2 | (second >> 11 & 1) << 1
        back = first & 0xF == 0xF
        target = address + 4 + (-distance if back else distance)
        return Instruction(address=address, size=4, kind=Kind.BRANCH, immediate=target)
    return Instruction(address=address, size=4, kind=Kind.OTHER, clobbers=anything, unknown=True)
