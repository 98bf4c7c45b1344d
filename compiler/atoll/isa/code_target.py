# SPDX-License-Identifier: Apache-2.0
"""What code of a core is made for: one of several targets that a core may have."""

from enum import StrEnum

from atoll.isa.instruction_set import InstructionSet
from atoll.records import dataclass

OWN = "own"
"""Names the code that a core has without any target."""


class Optimise(StrEnum):
    """What the compiler strives for."""

    SPEED = "speed"
    SIZE = "size"


class Generator(StrEnum):
    """What makes the code."""

    LLVM = "llvm"
    C = "c"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTarget:
    """A named way to make code for a core, beside the usual one.

    Attributes:
        name: as operators ask for it.
        instructions: that the core has too; its calling convention passes integers as the core's.
        optimise: what for.
        generator: what makes it; None for what makes all other code.
        unit: whether it may use instructions of the core's function unit.
    """

    name: str
    instructions: InstructionSet
    optimise: Optimise = Optimise.SPEED
    generator: Generator | None = None
    unit: bool = True
