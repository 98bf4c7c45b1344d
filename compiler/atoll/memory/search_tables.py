# SPDX-License-Identifier: Apache-2.0
"""What the exact search gets and gives, for both of its implementations."""

from collections.abc import Callable, Sequence
from enum import IntEnum

from atoll.memory.packing import Offsets, Packing
from atoll.records import dataclass

FAR = 1 << 60
"""An offset beyond all others."""

Steps = Callable[[int], int]
"""Returns how many nodes may follow at most, after a number of nodes; 0 to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """A packing as the search sees it: what stays the same for all capacities.

    Attributes:
        origin: address of offset 0.
        grain: bytes of which every address is a multiple.
        sizes: bytes of each buffer.
        alignments: of each buffer.
        edges: for each buffer those that it conflicts with, the bytes by which these have to be
            above it if they are above it, and those by which it has to be above them if it is.
        cliques: buffers that all conflict with each other.
        weights: for each buffer its cliques, with the bytes that it surely adds to each.
        tops: of each buffer the bytes within which it has to end, whatever the capacity.
    """

    origin: int
    grain: int
    sizes: Sequence[int]
    alignments: Sequence[int]
    edges: Sequence[Sequence[tuple[int, int, int]]]
    cliques: Sequence[Sequence[int]]
    weights: Sequence[Sequence[tuple[int, int]]]
    tops: Sequence[int]

    def ceiling(self, capacity: int) -> int:
        """Return the height that no clique's stack may exceed: rounded up as the weights are."""
        return capacity + -(self.origin + capacity) % self.grain


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How to branch.

    Attributes:
        by_clique: choose from the fullest clique, not from all buffers.
        rank: place of each buffer among those with the same lowest offset.
    """

    by_clique: bool
    rank: Sequence[int]


class Status(IntEnum):
    """How far a search came."""

    RUNNING = 0
    SOLVED = 1
    EXHAUSTED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found.

    Attributes:
        nodes: how many were looked at.
        deepest: how many buffers were placed at once, at most.
        offsets: of all buffers, if it is solved; else of none.
    """

    status: Status
    nodes: int
    deepest: int
    offsets: Offsets


def tables_of(packing: Packing) -> Tables:
    """Return the members of a packing, numbered by their place in it."""
    graph, buffers = packing.graph, packing.graph.buffers
    place = {member: number for number, member in enumerate(packing.members)}
    cliques = _maximal(packing.cliques)
    weights: list[list[tuple[int, int]]] = [[] for _ in packing.members]
    for number, clique in enumerate(cliques):
        for member, weight in packing.weights(clique, rounded=True).items():
            weights[place[member]].append((number, weight))
    return Tables(
        origin=packing.pool.origin,
        grain=packing.grain,
        sizes=[buffers[member].size for member in packing.members],
        alignments=[packing.alignment(member) for member in packing.members],
        edges=[
            [
                (place[other], graph.separation(member, other), graph.separation(other, member))
                for other in graph.neighbours[member]
                if other in place
            ]
            for member in packing.members
        ],
        cliques=[[place[member] for member in clique] for clique in cliques],
        weights=weights,
        tops=[packing.ceilings.get(member, FAR) for member in packing.members],
    )


def _maximal(cliques: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Leave out cliques that are part of their neighbours in the list."""
    kept: list[tuple[int, ...]] = []
    for clique in cliques:
        while kept and set(kept[-1]) <= set(clique):
            kept.pop()
        if not kept or not set(clique) <= set(kept[-1]):
            kept.append(clique)
    return kept
