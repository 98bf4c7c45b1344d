"""Orders of branching for the exact search: a few that work well, then random variations."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from itertools import count
from math import exp
from random import Random

from atoll.memory.packing import Packing
from atoll.memory.search import Way

_SPREAD = 0.3
"""Logarithm of the most that a random variation multiplies a measure with."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What makes a block hard to place.

    Attributes:
        size: bytes.
        length: how many steps it is live in; how many blocks it conflicts with if these are listed.
        pressure: bytes of its heaviest clique.
    """

    size: int
    length: int
    pressure: int

    @property
    def area(self) -> int:
        """Size times length."""
        return self.size * self.length


_KEYS: tuple[Callable[[Measures, float], tuple[float, ...]], ...] = (
    lambda m, noise: (-m.length * noise, -m.size),
    lambda m, noise: (-m.pressure, -m.area * noise),
    lambda m, noise: (-m.pressure, -m.length * noise),
    lambda m, noise: (-m.area * noise,),
)
_PLAN = ((False, 0), (True, 1), (True, 2), (False, 2), (False, 1), (True, 0), (False, 3))
"""Whether to choose by clique, and by which key to settle ties."""


def ways(packing: Packing, seed: int) -> Iterator[Way]:
    """Yield ways to branch without end; those of a packing and a seed are always the same.

    Where results may lie over operands the order of the problem comes first: in a network that is
    the order of execution, and chains of overlaps follow it.
    """
    measures, random = _measures(packing), Random(seed)
    places = {member: place for place, member in enumerate(packing.free)}
    if packing.whole.nearer:
        yield Way(by_clique=False, rank=_ranks(packing, range(len(places)), places))
    for number in count():
        by_clique, key = _PLAN[number % len(_PLAN)]
        varied = number >= len(_PLAN)
        noise = [exp(_SPREAD * random.uniform(-1, 1)) if varied else 1.0 for _ in measures]
        order = sorted(
            range(len(measures)),
            key=lambda place: (_KEYS[key](measures[place], noise[place]), place),
        )
        yield Way(by_clique=by_clique, rank=_ranks(packing, order, places))


def _measures(packing: Packing) -> list[Measures]:
    blocks = packing.whole.blocks
    pressure = dict.fromkeys(packing.members, 0)
    for clique in packing.cliques:
        total = sum(blocks[member].size for member in clique)
        for member in clique:
            pressure[member] = max(pressure[member], total)
    return [
        Measures(
            size=blocks[member].size,
            length=_length(packing, member),
            pressure=pressure[member],
        )
        for member in packing.free
    ]


def _length(packing: Packing, member: int) -> int:
    whole = packing.whole
    if whole.problem.conflicts is not None:
        return len(whole.neighbours[member]) + 1
    return sum(end - begin for begin, end in whole.blocks[member].live)


def _ranks(packing: Packing, order: Sequence[int], places: dict[int, int]) -> list[int]:
    """Return the place of each block in `order`; a block comes before those it may start with."""
    before: dict[int, list[int]] = {}
    for (lower, upper), distance in packing.whole.nearer.items():
        if distance == 0 and lower in places and upper in places:
            before.setdefault(places[upper], []).append(places[lower])
    if before:
        order = _adjusted(order, before)
    ranks = [0] * len(order)
    for rank, place in enumerate(order):
        ranks[place] = rank
    return ranks


def _adjusted(order: Sequence[int], before: dict[int, list[int]]) -> Sequence[int]:
    """Sort `order` as little as `before` requires."""
    sorter = TopologicalSorter(before)
    for place in order:
        sorter.add(place)
    wanted = {place: rank for rank, place in enumerate(order)}
    sorter.prepare()
    adjusted: list[int] = []
    ready: list[tuple[int, int]] = []
    while sorter.is_active():
        for place in sorter.get_ready():
            heappush(ready, (wanted[place], place))
        _, chosen = heappop(ready)
        adjusted.append(chosen)
        sorter.done(chosen)
    return adjusted
