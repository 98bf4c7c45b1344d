# SPDX-License-Identifier: Apache-2.0
"""What code of a core is made for: one of several targets that a core may have."""

from dataclasses import dataclass

from atoll.isa.instruction_set import InstructionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTarget:
    """A named way to make code for a core, beside the usual one.

    Attributes:
        name: as operators ask for it.
        instructions: that the core has too, with its calling convention.
    """

    name: str
    instructions: InstructionSet
