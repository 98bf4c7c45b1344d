"""Which buffers of a problem conflict: the graph that planners work on, buffers by number."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from atoll.memory.problem import Buffer, Problem

Pair = tuple[int, int]


@dataclass(frozen=True)
class ConflictGraph:
    """A problem made ready for planners.

    Attributes:
        neighbours: the buffers that conflict with each buffer, ascending.
        nearer: bytes by which the second buffer has to be above the first if it is above it,
            where that is not the size of the first.
        pools: the candidate pools of each buffer that the problem has.
    """

    problem: Problem
    neighbours: tuple[tuple[int, ...], ...]
    nearer: Mapping[Pair, int]
    pools: tuple[tuple[str, ...], ...]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The problem's, in its order."""
        return self.problem.buffers

    @cached_property
    def cliques(self) -> tuple[tuple[int, ...], ...]:
        """Sets of buffers that all conflict with each other; every buffer is in one."""
        return tuple(dict.fromkeys(tuple(sorted(live)) for live in _crowds(self.buffers)))

    def separation(self, lower: int, upper: int) -> int:
        """Return by how much `upper` has to start above `lower` if it is above it."""
        return self.nearer.get((lower, upper), self.buffers[lower].size)


def conflict_graph(problem: Problem) -> ConflictGraph:
    """Find what conflicts."""
    numbers = {buffer.name: number for number, buffer in enumerate(problem.buffers)}
    neighbours: list[set[int]] = [set() for _ in problem.buffers]
    for one, other in _meetings(problem.buffers):
        neighbours[one].add(other)
        neighbours[other].add(one)
    there = {pool.name for pool in problem.pools}
    nearer = {}
    for overlap in problem.overlaps:
        later, earlier = numbers[overlap.later], numbers[overlap.earlier]
        if earlier in neighbours[later]:
            nearer[later, earlier] = min(overlap.distance, problem.buffers[later].size)
    return ConflictGraph(
        problem=problem,
        neighbours=tuple(tuple(sorted(each)) for each in neighbours),
        nearer=nearer,
        pools=tuple(
            tuple(pool for pool in buffer.pools if pool in there) for buffer in problem.buffers
        ),
    )


def _meetings(buffers: Sequence[Buffer]) -> Iterator[Pair]:
    """Yield the pairs that are live in one step; a pair may come more than once."""
    live: dict[int, None] = {}
    for _, starts, number in _events(buffers):
        if starts:
            for other in live:
                yield other, number
            live[number] = None
        else:
            del live[number]


def _crowds(buffers: Sequence[Buffer]) -> Iterator[tuple[int, ...]]:
    """Yield the buffers that are live together, for each step in which there are the most."""
    live: dict[int, None] = {}
    growing = False
    for _, starts, number in _events(buffers):
        if starts:
            live[number] = None
        else:
            if growing:
                yield tuple(live)
            del live[number]
        growing = starts


def _events(buffers: Sequence[Buffer]) -> list[tuple[int, bool, int]]:
    """Return the starts and ends of all intervals; at one step, ends come first."""
    return sorted(
        (step, starts, number)
        for number, buffer in enumerate(buffers)
        for begin, end in buffer.live
        for step, starts in ((begin, True), (end, False))
    )
