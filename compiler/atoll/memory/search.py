"""Exact search: decide whether the blocks of a pool fit into a number of bytes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from atoll.ir.python_source import python_function
from atoll.memory.packing import Offsets, Packing
from atoll.memory.search_kernel import search_kernel
from atoll.memory.search_layout import (
    BUFFER_COUNT,
    BUFFERS,
    BY_CLIQUE,
    CLIQUE_COUNT,
    DEEPEST,
    EXHAUSTED,
    NODES,
    RUNNING,
    SOLVED,
    STATUS,
    STEPS,
)
from atoll.memory.skyline_engines import InterpretedSkylines
from atoll.memory.skyline_plans import Skylines

Arrays = dict[str, list[int]]


Steps = Callable[[int], int]
"""Returns how many steps to take, at most, after a number of nodes; 0 to stop."""


class Runner(Protocol):
    """Runs the kernel on some arrays, in place, until it is done or `steps` returns 0."""

    def __call__(self, work: Arrays, steps: Steps) -> None:
        """Run; `work` holds the parameters that the kernel writes, and the limits and ranks."""


class Engine(Protocol):
    """A way to run the kernel: compiled or interpreted."""

    def load(self, tables: Arrays) -> Runner:
        """Take the parameters that stay the same for all capacities."""

    def skylines(self) -> Skylines:
        """Return the kernel of the skyline search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How to branch.

    Attributes:
        by_clique: choose from the fullest clique, not from all blocks.
        rank: place of each free member among those with the same lowest offset.
    """

    by_clique: bool
    rank: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a search found.

    Attributes:
        offsets: a plan that fits, or None.
        exhausted: there is no plan.
        nodes: how many nodes were looked at.
        deepest: how many members were placed at once, at most.
    """

    offsets: Offsets | None
    exhausted: bool
    nodes: int
    deepest: int = 0


class Search:
    """Searches one packing, for one capacity at a time."""

    def __init__(self, packing: Packing, engine: Engine) -> None:
        """Prepare for any capacity."""
        self._packing = packing
        self._tables = _tables(packing)
        self._run = engine.load(self._tables)
        self._least = [
            packing.lifted(member, 0, packing.forbidden(member)) for member in packing.free
        ]

    def fits(self, capacity: int, way: Way, more: Steps) -> Outcome:
        """Look for offsets with which no free member ends above `capacity`.

        Args:
            capacity: bytes.
            way: how to branch.
            more: how far to go on.
        """
        if any(end > capacity for end in self._pinned_ends()):
            return Outcome(offsets=None, exhausted=True, nodes=0)
        work = self._work(capacity, way)
        self._run(work, more)
        state = work["state"]
        offsets = self._solution(work) if state[STATUS] == SOLVED else None
        exhausted = state[STATUS] == EXHAUSTED
        return Outcome(
            offsets=offsets, exhausted=exhausted, nodes=state[NODES], deepest=state[DEEPEST]
        )

    def _solution(self, work: Arrays) -> Offsets:
        packing, count = self._packing, len(self._packing.free)
        placed = {
            packing.free[block]: work["low"][level * count + block]
            for level, block in enumerate(work["chosen"][:count])
        }
        return {**packing.pinned, **placed}

    def _pinned_ends(self) -> Iterable[int]:
        blocks = self._packing.whole.blocks
        return (offset + blocks[m].size for m, offset in self._packing.pinned.items())

    def _work(self, capacity: int, way: Way) -> Arrays:
        packing = self._packing
        count = len(packing.free)
        ceiling = packing.first + packing.rounded(max(0, capacity - packing.first))
        state = [0] * 9
        state[BUFFER_COUNT] = count
        state[CLIQUE_COUNT] = len(self._tables["member_from"]) - 1
        state[BY_CLIQUE] = int(way.by_clique)
        order = sorted(range(count), key=lambda block: self._least[block])
        return {
            "state": state,
            "limits": [capacity, ceiling, packing.pool.origin],
            "rank": list(way.rank),
            "low": self._least + [0] * (count * count),
            "order": order + [0] * (count * count),
            "chosen": [0] * (count + 1),
            "unplaced": [1] * count,
            "top": [0] * (state[CLIQUE_COUNT] + 1),
            "raised": [0] * count,
            "kept": [0] * (count + 1),
            "moved": [0] * (count + 1),
        }


def _tables(packing: Packing) -> Arrays:
    """Return what does not depend on the capacity."""
    whole, blocks = packing.whole, packing.whole.blocks
    place = {member: number for number, member in enumerate(packing.free)}
    edges = [
        [other for other in whole.neighbours[member] if other in place] for member in packing.free
    ]
    cliques = [tuple(member for member in clique if member in place) for clique in packing.cliques]
    cliques = _maximal(cliques)
    weights = [packing.weights(clique, rounded=True) for clique in cliques]
    joined: list[list[int]] = [[] for _ in packing.free]
    for number, clique in enumerate(cliques):
        for member in clique:
            joined[place[member]].append(number)
    ranges = [packing.forbidden(member) for member in packing.free]
    lists = {
        "range_from": _starts(ranges),
        "edge_from": _starts(edges),
        "clique_from": _starts(joined),
        "member_from": _starts(cliques),
        "range_begin": [begin for each in ranges for begin, _ in each],
        "range_end": [end for each in ranges for _, end in each],
        "edge": [place[other] for each in edges for other in each],
        "clique": [number for each in joined for number in each],
        "member": [place[member] for clique in cliques for member in clique],
    }
    pairs = [
        (member, other) for member, each in zip(packing.free, edges, strict=True) for other in each
    ]
    return lists | {
        "size": [blocks[member].size for member in packing.free],
        "alignment": [packing.alignment(member) for member in packing.free],
        "above": [whole.separation(member, other) for member, other in pairs],
        "below": [whole.separation(other, member) for member, other in pairs],
        "weight": [
            weights[number][member]
            for member, each in zip(packing.free, joined, strict=True)
            for number in each
        ],
    }


def _maximal(cliques: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Leave out cliques that are part of their neighbours in the list."""
    kept: list[tuple[int, ...]] = []
    for clique in dict.fromkeys(each for each in cliques if each):
        while kept and set(kept[-1]) <= set(clique):
            kept.pop()
        if not kept or not set(clique) <= set(kept[-1]):
            kept.append(clique)
    return kept


def _starts(lists: Iterable[Sequence[object]]) -> list[int]:
    starts = [0]
    for each in lists:
        starts.append(starts[-1] + len(each))
    return starts


@cache
def _function() -> Callable[..., None]:
    return python_function(search_kernel())


class Interpreted:
    """Runs the kernel as plain Python."""

    def load(self, tables: Arrays) -> Runner:
        """Take the parameters that stay the same."""

        def run(work: Arrays, steps: Steps) -> None:
            arrays, state = tables | work, work["state"]
            ordered = [arrays[name] for name, *_ in BUFFERS]
            while state[STATUS] == RUNNING and (more := steps(state[NODES])):
                state[STEPS] = more
                _function()(*ordered)

        return run

    def skylines(self) -> Skylines:
        """Return the kernel of the skyline search."""
        return InterpretedSkylines()
