"""What each word of the user about overlap allows: see docs/memory-plan.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from atoll.ops.overlap import SLOWER_OVER_OPERANDS
from atoll.ops.registry import OPERATORS

MOST_COMMANDS = 128
"""Commands that an accelerator may spend on one operator so that its output may overlap."""


@dataclass(frozen=True, slots=True)
class Overlapping:
    """Where results may lie over operands.

    Attributes:
        splits: commands that an accelerator may spend on one operator for it.
        apart: kinds of operators whose results keep apart.
    """

    splits: int = 1
    apart: frozenset[str] = frozenset()


OVERLAPPING: Mapping[str, tuple[Overlapping, ...]] = MappingProxyType(
    {
        "none": (Overlapping(apart=frozenset(OPERATORS)),),
        "free": (Overlapping(apart=SLOWER_OVER_OPERANDS), Overlapping(MOST_COMMANDS)),
        "all": (Overlapping(MOST_COMMANDS),),
    }
)
"""What to try in turn, by the word of the user."""
