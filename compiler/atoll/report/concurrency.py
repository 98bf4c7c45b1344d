# SPDX-License-Identifier: Apache-2.0
"""How much the devices of a chip worked at the same time."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType

from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A device worked from cycle `begin` up to, not including, `end`."""

    device: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency:
    """Cycles of work.

    Attributes:
        by_device: in which each device worked, in the order in which they began.
        working: in which any device worked.
        at_once: in which more than one worked.
    """

    by_device: Mapping[str, int]
    working: int
    at_once: int

    @property
    def saved(self) -> int:
        """Cycles that the same work would take longer one device after the other."""
        return sum(self.by_device.values()) - self.working

    def __str__(self) -> str:
        devices = ", ".join(f"{name} {cycles:,}" for name, cycles in self.by_device.items())
        return (
            f"devices worked at the same time for {self.at_once:,} of {self.working:,} cycles "
            f"({devices})"
        )


def concurrency(spans: Iterable[Span]) -> Concurrency:
    """Add up `spans`; those of one device do not overlap."""
    by_device: Counter[str] = Counter()
    changes: Counter[int] = Counter()
    for span in sorted(spans, key=lambda span: span.begin):
        by_device[span.device] += span.end - span.begin
        changes[span.begin] += 1
        changes[span.end] -= 1
    working = at_once = busy = 0
    for cycle, following in pairwise(sorted(changes)):
        busy += changes[cycle]
        working += (following - cycle) * (busy > 0)
        at_once += (following - cycle) * (busy > 1)
    return Concurrency(
        by_device=MappingProxyType(dict(by_device)), working=working, at_once=at_once
    )
