# SPDX-License-Identifier: Apache-2.0
"""Which buffers of a problem conflict: the graph that planners work on, buffers by number."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from atoll.memory.problem import Buffer, Problem
from atoll.records import dataclass
from atoll.utils.remember import Alike, remember

PROBLEMS_AT_HAND = 32
"""Problems of which a process keeps what does not depend on pools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictGraph:
    """A problem made ready for planners.

    Attributes:
        neighbours: the buffers that conflict with each buffer, ascending.
        cliques: sets of buffers that all conflict with each other; every buffer is in one, and
            so is every pair that conflicts.
        nearer: bytes by which the second buffer has to be above the first if it is above it,
            where that is not the size of the first.
        overlapping: the buffers in `nearer`.
        pools: the candidate pools of each buffer that the problem has.
        ceilings: bytes of a pool within which a buffer has to end there, by its number and pool.
    """

    problem: Problem
    neighbours: tuple[tuple[int, ...], ...]
    cliques: tuple[tuple[int, ...], ...]
    nearer: Mapping[tuple[int, int], int]
    overlapping: frozenset[int]
    pools: tuple[tuple[str, ...], ...]
    ceilings: Mapping[tuple[int, str], int] = field(default_factory=dict)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The problem's, in its order."""
        return self.problem.buffers

    def separation(self, lower: int, upper: int) -> int:
        """Return by how much `upper` has to start above `lower` if it is above it."""
        return self.nearer.get((lower, upper), self.buffers[lower].size)


def conflict_graph(problem: Problem) -> ConflictGraph:
    """Find what conflicts; where pools are, and how large, has no say."""
    return replace(_sweep(problem), problem=problem)


def buffers_of(problem: Problem) -> Alike:
    """Return all of a problem but where its pools are and how large."""
    names = tuple([pool.name for pool in problem.pools])
    sign = len(problem.buffers), len(problem.overlaps), names
    return Alike(sign, problem.buffers, problem.overlaps)


@remember(buffers_of, most=PROBLEMS_AT_HAND)
def _sweep(problem: Problem) -> ConflictGraph:
    """Sweep over the steps, and keep what is live together at each peak."""
    neighbours: list[set[int]] = [set() for _ in problem.buffers]
    crowds: dict[tuple[int, ...], None] = {}
    live: set[int] = set()
    growing = False
    for _, starts, number in _events(problem.buffers):
        if starts:
            neighbours[number] |= live
            for other in live:
                neighbours[other].add(number)
            live.add(number)
        else:
            if growing:
                crowds[tuple(sorted(live))] = None
            live.remove(number)
        growing = starts
    there = {pool.name for pool in problem.pools}
    nearer = _nearer(problem, neighbours)
    return ConflictGraph(
        problem=problem,
        neighbours=tuple(tuple(sorted(each)) for each in neighbours),
        cliques=tuple(crowds),
        nearer=nearer,
        overlapping=frozenset(number for pair in nearer for number in pair),
        pools=tuple(
            tuple(pool for pool in buffer.pools if pool in there) for buffer in problem.buffers
        ),
        ceilings={
            (number, each.pool): each.size
            for number, buffer in enumerate(problem.buffers)
            for each in buffer.ceilings
        },
    )


def _events(buffers: Sequence[Buffer]) -> list[tuple[int, bool, int]]:
    """Return the starts and ends of all intervals; at one step, ends come first."""
    return sorted(
        (step, starts, number)
        for number, buffer in enumerate(buffers)
        for begin, end in buffer.live
        for step, starts in ((begin, True), (end, False))
    )


def _nearer(problem: Problem, neighbours: Sequence[set[int]]) -> Mapping[tuple[int, int], int]:
    numbers = {buffer.name: number for number, buffer in enumerate(problem.buffers)}
    nearer = {}
    for overlap in problem.overlaps:
        later, earlier = numbers[overlap.later], numbers[overlap.earlier]
        if earlier in neighbours[later]:
            nearer[later, earlier] = min(overlap.distance, problem.buffers[later].size)
    return nearer
