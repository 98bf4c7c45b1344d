# SPDX-License-Identifier: Apache-2.0
"""Place buffers one after the other, each at the lowest free offset of its best pool with room."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from atoll.memory.conflicts import ConflictGraph
from atoll.memory.problem import Buffer, PoolSpace
from atoll.records import dataclass

Places = Mapping[int, tuple[str, int]]
"""Pool and offset, by number of the buffer."""

Pools = Mapping[int, Sequence[str]]
"""The pools that a buffer may be in, best first, by number of the buffer."""

UNLIMITED = 1 << 100
"""Size of a pool without limit."""

_REPAIRS = 16
"""Times that an order may be retried with the buffer that did not fit moved to the front."""

Order = Callable[[Buffer, int], tuple[int, ...]]
"""What to sort buffers by: one of them and the number of its conflicts."""

BY_SIZE: Order = lambda b, _: (-b.size, b.live[0][0])  # noqa: E731
BY_CONFLICTS: Order = lambda b, conflicts: (-conflicts, -b.size)  # noqa: E731
ORDERS: tuple[Order, ...] = (
    BY_SIZE,
    lambda b, _: (-b.size * b.length, -b.size),
    lambda b, _: (-b.length, -b.size),
    lambda b, _: (b.live[0][0], -b.size),
    lambda b, _: (-b.live[-1][1], -b.size),
    lambda b, _: (-b.alignment, -b.size),
    BY_CONFLICTS,
)


@dataclass(slots=True)
class Shelf:
    """A pool that is being filled."""

    graph: ConflictGraph
    pool: PoolSpace
    offsets: dict[int, int] = field(default_factory=dict)

    def place(self, number: int) -> bool:
        """Put a buffer at the lowest offset that is free, if it ends where it has to."""
        end = self._lowest(number) + self.graph.buffers[number].size
        ceiling = self.graph.ceilings.get((number, self.pool.name), end)
        if end > min(self.pool.size, ceiling):
            return False
        self.stack(number)
        return True

    def stack(self, number: int) -> None:
        """Put a buffer at the lowest offset that is free, however high that is."""
        self.offsets[number] = self._lowest(number)

    def _lowest(self, number: int) -> int:
        alignment = max(self.pool.alignment, self.graph.buffers[number].alignment)
        origin = self.pool.origin
        offset = -origin % alignment
        for begin, end in sorted(self._clashing_offsets(number)):
            if begin <= offset < end:
                offset = end + -(origin + end) % alignment
        return offset

    def _clashing_offsets(self, number: int) -> list[tuple[int, int]]:
        """Return the offsets at which a buffer would clash with one that is placed."""
        graph, offsets = self.graph, self.offsets
        nearer, buffers = graph.nearer, graph.buffers
        size = buffers[number].size
        if number not in graph.overlapping:
            return [
                (offsets[other] - size + 1, offsets[other] + buffers[other].size)
                for other in graph.neighbours[number]
                if other in offsets
            ]
        taken = []
        for other in graph.neighbours[number]:
            if other in offsets:
                below = nearer.get((number, other), size)
                above = nearer.get((other, number), buffers[other].size)
                if below + above > 1:
                    taken.append((offsets[other] - below + 1, offsets[other] + above))
        return taken


def orders(graph: ConflictGraph, keys: Iterable[Order] = ORDERS) -> Iterator[list[int]]:
    """Yield orders of all buffers; those with ceilings come first, the lowest in front."""
    pairs = list(zip(graph.buffers, map(len, graph.neighbours), strict=True))
    tops: dict[int, int] = {}
    for (number, _), top in graph.ceilings.items():
        tops[number] = min(top, tops.get(number, top))
    for key in keys:
        yield sorted(
            range(len(pairs)),
            key=lambda number: (tops.get(number, UNLIMITED), key(*pairs[number]), number),
        )


def fill(graph: ConflictGraph, order: Sequence[int], pools: Pools) -> tuple[Places, int | None]:
    """Place buffers in `order`; stop at the first that finds no room.

    Returns:
        What is placed, and the buffer that is not.
    """
    shelves = {pool.name: Shelf(graph, pool) for pool in graph.problem.pools}
    places: dict[int, tuple[str, int]] = {}
    for number in order:
        for pool in pools[number]:
            if shelves[pool].place(number):
                places[number] = pool, shelves[pool].offsets[number]
                break
        else:
            return places, number
    return places, None


def place_with_repairs(
    graph: ConflictGraph, order: Sequence[int], is_late: Callable[[], bool] = lambda: False
) -> Places | None:
    """Place in `order`; until it is late, move each buffer without room to the front, try again."""
    pools = dict(enumerate(graph.pools))
    places, stuck = fill(graph, order, pools)
    for _ in range(_REPAIRS):
        if stuck is None or stuck == order[0] or is_late():
            break
        order = [stuck, *(number for number in order if number != stuck)]
        places, stuck = fill(graph, order, pools)
    return places if stuck is None else None


def without_limit(graph: ConflictGraph) -> ConflictGraph:
    """Return the same buffers in pools without limit."""
    pools = tuple(replace(pool, size=UNLIMITED) for pool in graph.problem.pools)
    return replace(graph, problem=replace(graph.problem, pools=pools))
