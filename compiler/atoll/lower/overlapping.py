# SPDX-License-Identifier: Apache-2.0
"""What each word of the user about overlap allows: see docs/memory-plan.md."""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from atoll.ir.graph import Operator
from atoll.ops.registry import kind_of
from atoll.records import dataclass

MOST_COMMANDS = 128
"""Commands that an accelerator may spend on one operator so that its output may overlap."""


class Apart(Enum):
    """Which operators' results lie over no operand."""

    ALL = "all"
    SLOWER = "slower"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Overlapping:
    """Where results may lie over operands.

    Attributes:
        splits: commands that an accelerator may spend on one operator for it.
        apart: operators whose results keep apart; those whose loops are slower otherwise, or all.
    """

    splits: int = 1
    apart: Apart = Apart.NONE

    def keeps_apart(self, op: Operator) -> bool:
        """Tell whether the result of `op` lies over no operand."""
        if self.apart is Apart.SLOWER:
            return kind_of(op).slower_over_operands
        return self.apart is Apart.ALL


OVERLAPPING: Mapping[str, tuple[Overlapping, ...]] = MappingProxyType(
    {
        "none": (Overlapping(apart=Apart.ALL),),
        "free": (Overlapping(apart=Apart.SLOWER), Overlapping(MOST_COMMANDS)),
        "all": (Overlapping(MOST_COMMANDS),),
    }
)
"""What to try in turn, by the word of the user."""
