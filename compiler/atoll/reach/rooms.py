# SPDX-License-Identifier: Apache-2.0
"""What pools have room for, and results that hold for all pools that have room for the same.

A result is made for a chip that notes which sizes were asked for. It holds for another chip, with
pools of other sizes, if each pool there has room for the same of them.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import field, replace
from typing import Generic, TypeVar

from atoll.records import dataclass
from atoll.resolve.soc import Pool, ResolvedSoc

Result = TypeVar("Result")

_ASKED = "sizes that pools were asked for"


def has_room(pool: Pool, size: int, soc: ResolvedSoc) -> bool:
    """Tell whether a pool of a chip has room for some bytes; all that depends on sizes asks it."""
    soc.known.get(_ASKED, set()).add(size)
    return pool.room >= size


@dataclass(frozen=True, slots=True)
class _Answer(Generic[Result]):
    """A result, the rooms of the pools for which it was made, and the sizes asked for, sorted."""

    value: Result
    rooms: tuple[int, ...]
    sizes: tuple[int, ...]

    def holds(self, rooms: tuple[int, ...]) -> bool:
        """Tell whether each size has room in the same pools."""
        return self.rooms == rooms or all(
            one == two or bisect_right(self.sizes, one) == bisect_right(self.sizes, two)
            for one, two in zip(self.rooms, rooms, strict=True)
        )


@dataclass
class Answers(Generic[Result]):
    """Results of one question about chips that differ in the sizes of pools, the last few."""

    most: int = 4
    known: list[_Answer[Result]] = field(default_factory=list)

    def find(self, soc: ResolvedSoc, make: Callable[[ResolvedSoc], Result]) -> Result:
        """Return what `make` makes of a chip, or made of one with room for the same."""
        rooms = tuple([pool.room for pool in soc.pools])
        for each in self.known:
            if each.holds(rooms):
                return each.value
        watched = replace(soc)
        sizes: set[int] = watched.known.setdefault(_ASKED, set())
        value = make(watched)
        self.known = [_Answer(value, rooms, tuple(sorted(sizes))), *self.known[: self.most - 1]]
        return value
