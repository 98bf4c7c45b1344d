# SPDX-License-Identifier: Apache-2.0
"""Where a switch over a table leads: the table is at a constant, in the basic block of the jump.

Each entry is an address, or a distance from a constant. A table ends at the latest where an entry
leads out of the function; what lies behind its end and leads into the function is taken for more
of it, so targets may be too many and are never too few.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from atoll.records import dataclass
from atoll.stack.instruction import ZERO, Instruction, Kind, Reader

_WORD = 0xFFFF_FFFF
_MOST = 1024
_ADDRESS = 4
_ENDS = (Kind.JUMP, Kind.JUMP_REGISTER, Kind.SWITCH, Kind.HALT)

Constant = Callable[[int, int], int | None]
"""Returns what a register holds before the instruction at an address, if that is a constant."""


@dataclass(frozen=True)
class JumpTables:
    """The tables of one function.

    Attributes:
        code: its instructions by address.
        read: bytes that no code changes; fewer than asked for where there are none.
        cold: tells whether an address is in a part of the function that lies elsewhere.
    """

    code: Mapping[int, Instruction]
    read: Reader
    cold: Callable[[int], bool]

    @cached_property
    def _before(self) -> Mapping[int, Instruction]:
        """Return the instruction before each one that only that one leads to."""
        joins = {
            target
            for item in self.code.values()
            for target in (item.immediate, *item.targets)
            if item.kind in (Kind.JUMP, Kind.BRANCH, Kind.SWITCH)
        }
        return {
            item.next: item
            for item in self.code.values()
            if item.kind not in _ENDS and item.next not in joins
        }

    def targets(self, jump: Instruction, constant: Constant) -> tuple[int, ...]:
        """Return where a jump through a register leads; nothing if it is no switch."""
        made = self._maker_of(jump, jump.rs1)
        if made is None:
            return ()
        if made.kind is Kind.LOAD and abs(made.width) >= _ADDRESS:
            return self._entries(self._base(made, constant), made.width, 0, 0)
        if made.kind not in (Kind.ADD, Kind.ADD_SCALED):
            return ()
        sides = [(made.rs1, made.rs2)]
        if made.kind is Kind.ADD:
            sides.append((made.rs2, made.rs1))
        for origin, entry in sides:
            load, start = self._maker_of(made, entry), constant(made.address, origin)
            if load is None or load.kind is not Kind.LOAD or start is None:
                continue
            width = made.width or load.width
            if abs(width) != abs(load.width):
                return ()
            return self._entries(self._base(load, constant), width, start, made.scale)
        return ()

    def writer_of(self, item: Instruction, register: int) -> Instruction | None:
        """Return the instruction of the same block that changed what `item` reads in a register."""
        found = self._before.get(item.address)
        while found is not None and register != found.rd and register not in found.clobbers:
            found = self._before.get(found.address)
        return found

    def _maker_of(self, item: Instruction, register: int) -> Instruction | None:
        """Return the instruction of the same block that makes what `item` reads in a register."""
        found = self.writer_of(item, register)
        if found is None or not found.rd == register != ZERO:
            return None
        copied = found.kind is Kind.ADD_IMMEDIATE and not found.immediate
        return self._maker_of(found, found.rs1) if copied else found

    def _base(self, load: Instruction, constant: Constant) -> int | None:
        """Return where the table begins that a load reads with an index."""
        if load.rs2 != ZERO:
            return _plus(constant(load.address, load.rs1), load.immediate)
        added = self._maker_of(load, load.rs1)
        if added is None or added.kind not in (Kind.ADD, Kind.ADD_SCALED):
            return None
        bases = (added.rs1, added.rs2) if added.kind is Kind.ADD else (added.rs1,)
        sides = [constant(added.address, each) for each in bases]
        known = [each for each in sides if each is not None]
        return _plus(known[0], load.immediate) if len(known) == 1 else None

    def _entries(self, base: int | None, width: int, start: int, scale: int) -> tuple[int, ...]:
        return () if base is None else tuple(dict.fromkeys(self._read(base, width, start, scale)))

    def _read(self, base: int, width: int, start: int, scale: int) -> Iterator[int]:
        size = abs(width)
        for number in range(_MOST):
            word = self.read(base + number * size, size)
            if len(word) < size:
                return
            entry = int.from_bytes(word, "little", signed=width < 0)
            target = (start + (entry << scale)) & _WORD
            if width == _ADDRESS and target not in self.code:
                target &= ~1  # of Thumb code
            if target not in self.code and not self.cold(target):
                return
            yield target


def _plus(base: int | None, distance: int) -> int | None:
    return None if base is None else (base + distance) & _WORD
