# SPDX-License-Identifier: Apache-2.0
"""Find an instruction set by its name."""

import re
from collections.abc import Callable
from functools import cache

from atoll.isa import arm, others, riscv
from atoll.isa.instruction_set import InstructionSet

_FAMILIES = (riscv, arm, others)
_FIND: tuple[Callable[[str, str | None], InstructionSet | None], ...] = (
    riscv.find,
    arm.find,
    others.find,
)

PATTERN = "|".join(family.PATTERN for family in _FAMILIES)
NAMES = re.compile(PATTERN)
"""Instruction sets that a back end generates code for."""

USUAL = tuple(name for family in _FAMILIES for name in family.USUAL)
"""The usual ones of them, which messages and editors propose."""


def usual_like(name: str) -> tuple[str, ...]:
    """Return the usual ones of the architecture that `name` says, whose code another cannot run."""
    return tuple(each for each in USUAL if _architecture(each) == _architecture(name))


def _architecture(name: str) -> str:
    plain = re.sub(r"[-_.]", "", name.lower())
    riscv = re.match(r"rv[0-9]{2}", plain)
    return riscv[0] if riscv else plain.partition("+")[0]


@cache
def instruction_set(name: str, abi: str | None = None) -> InstructionSet:
    """Return the instruction set `name` with a calling convention, by default its usual one.

    Raises:
        ValueError: there is no such one; `NAMES` and its `abis` tell beforehand.
    """
    for find in _FIND:
        if found := find(name, abi):
            return found
    raise ValueError(f"no instruction set {name!r} with calling convention {abi!r}")
