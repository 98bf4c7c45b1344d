# SPDX-License-Identifier: Apache-2.0
"""What an instruction of any set does, as far as stack use and control flow need it."""

from collections.abc import Callable
from enum import Enum, auto

from atoll.records import dataclass

ZERO, RA, SP, T0 = 0, 1, 2, 5
RESUME, TRAP, NOWHERE, OTHER_SP = 32, 33, 34, 35
"""Where an exception goes on, and where it begins, are registers of their own (mepc, mtvec); the
third stands for one whose value nobody knows, the last for the pointer of a second stack (psp,
sp_el0)."""
EXTRA = range(36, 40)
"""Temporary registers of A64 that RISC-V has no counterparts of."""

Reader = Callable[[int, int], bytes]
"""Returns so many loaded bytes at an address, fewer where nothing is loaded."""


def within(code: bytes, begin: int) -> Reader:
    """Return a reader of code alone that begins at an address."""
    return lambda place, size: code[max(place - begin, 0) : max(place - begin + size, 0)]


class Kind(Enum):
    """What an instruction does to registers and control."""

    SET = auto()  # rd = immediate
    ADD_IMMEDIATE = auto()  # rd = rs1 + immediate
    ADD = auto()  # rd = rs1 + rs2
    SUBTRACT = auto()  # rd = rs1 - rs2
    JUMP = auto()  # go to immediate, leave the return address in rd
    JUMP_REGISTER = auto()  # go to rs1 + immediate, leave the return address in rd
    BRANCH = auto()  # perhaps go to immediate
    HALT = auto()  # goes nowhere that belongs to the same run
    OR_IMMEDIATE = auto()  # rd = rs1 | immediate
    ALIGN = auto()  # rd = rs1, rounded down to a multiple of immediate
    LOAD = auto()  # rd = what is at rs1 + rs2 + immediate; with rs2, scaled as the table is
    ADD_SCALED = auto()  # rd = rs1 + (rs2 << scale)
    SWITCH = auto()  # go to one of `targets`
    STORE = auto()  # what is at rs1 + rs2 + immediate = `registers`, one after the other
    RESTORE = auto()  # `registers` = what is at rs1 + rs2 + immediate, one after the other
    OTHER = auto()  # rd = something else; rd is 0 if no register changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction; registers are numbers, targets are absolute addresses.

    Attributes:
        condition: how rs1 is to rs2 if a branch is taken: RISC-V's names, as ``ltu``; "" if that is
            not followed.
        clobbers: registers that change to something unknown besides `rd`.
        targets: where a switch leads.
        registers: that are stored or restored; `NOWHERE` is one that is not followed.
        width: bytes of a load, of each register that is stored, or of what is extended before it
            is added; negative if signed.
        scale: bits that what is added is shifted by.
        reads: registers that an instruction of kind OTHER makes its result of, or stores.
        source: address of the constant beside the code that it loads, 0 if it loads none.
        unknown: it is none of those that are known; what it does is assumed.
    """

    address: int
    size: int
    kind: Kind
    rd: int = ZERO
    rs1: int = ZERO
    rs2: int = ZERO
    immediate: int = 0
    condition: str = ""
    clobbers: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()
    registers: tuple[int, ...] = ()
    width: int = 0
    scale: int = 0
    reads: tuple[int, ...] = ()
    source: int = 0
    unknown: bool = False

    @property
    def next(self) -> int:
        """Address of the instruction after this one."""
        return self.address + self.size
