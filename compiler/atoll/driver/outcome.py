# SPDX-License-Identifier: Apache-2.0
"""What comes of a candidate that does not work out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atoll.diagnostics.errors import Refusal

UNLIMITED = 1 << 62
"""More bytes than any remedy asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasible:
    """The chip does not suffice for a candidate.

    Attributes:
        error: why; its faults may take long to find, which happens once somebody reads them.
        crowded: no plan was found for buffers each of which has a pool.
        trace: the results of the stages that came so far, if the task records them.
    """

    error: Refusal
    crowded: bool = False
    trace: tuple[tuple[str, object], ...] = field(default=(), repr=False)

    @property
    def lacks(self) -> Mapping[str, int]:
        """Bytes by dotted key of a size, of a pool or a stack, that the refusal asks for."""
        return self.error.wants


def least_refusal(refused: Sequence[Infeasible]) -> Infeasible:
    """Return which of some refusals, of one network with ever more overlaps, asks for least."""
    first, *others = refused
    if not others or first.error.faults[0].code not in ("E062", "E206"):
        return first
    return min((*others, first), key=lambda each: sum(each.lacks.values()) or UNLIMITED)
