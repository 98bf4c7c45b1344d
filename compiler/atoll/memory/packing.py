# SPDX-License-Identifier: Apache-2.0
"""The buffers of one pool: what offsets they can have, and what they need at least."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import gcd

from atoll.memory.conflicts import ConflictGraph
from atoll.memory.problem import PoolSpace
from atoll.records import dataclass

Offsets = Mapping[int, int]
"""Offset in the pool, by number of the buffer."""


@dataclass(frozen=True)
class Packing:
    """Find offsets in `pool` for the buffers `members`."""

    graph: ConflictGraph
    pool: PoolSpace
    members: tuple[int, ...]

    def alignment(self, member: int) -> int:
        """Return the alignment of a member in this pool."""
        return max(self.pool.alignment, self.graph.buffers[member].alignment)

    def align_up(self, member: int, offset: int) -> int:
        """Return the lowest offset from `offset` on at which a member's address is aligned."""
        return offset + -(self.pool.origin + offset) % self.alignment(member)

    @cached_property
    def grain(self) -> int:
        """Bytes of which the address of every member is a multiple."""
        return min(map(self.alignment, self.members), default=self.pool.alignment)

    def round_up(self, size: int) -> int:
        """Return the bytes that a member takes from one below another."""
        return -(-size // self.grain) * self.grain

    @property
    def first(self) -> int:
        """Lowest offset of which the address is a multiple of the grain."""
        return -self.pool.origin % self.grain

    @cached_property
    def cliques(self) -> tuple[tuple[int, ...], ...]:
        """Members that all conflict with each other: every such set that is known."""
        inside = set(self.members)
        if len(inside) == len(self.graph.buffers):
            return self.graph.cliques
        found = (tuple(m for m in clique if m in inside) for clique in self.graph.cliques)
        return tuple(dict.fromkeys(clique for clique in found if clique))

    def weights(self, clique: Sequence[int], *, rounded: bool) -> dict[int, int]:
        """Return the bytes that each member of a clique surely adds to those it is stacked on.

        A buffer that may overlap an earlier one adds what it has more.
        """
        buffers, nearer = self.graph.buffers, self.graph.nearer
        fit = self.round_up if rounded else int
        weights = {member: fit(buffers[member].size) for member in clique}
        for (later, earlier), distance in nearer.items():
            if later in weights and earlier in weights:
                saved = min(buffers[later].size - distance, buffers[earlier].size)
                weights[later] = max(0, weights[later] - fit(saved))
        return weights

    @cached_property
    def step(self) -> int:
        """Bytes of which the space used is a multiple, whatever the plan."""
        buffers = self.graph.buffers
        common = gcd(*(buffers[m].size for m in self.members), *self.graph.nearer.values())
        for alignment in {self.alignment(member) for member in self.members}:
            if common % alignment or self.pool.origin % alignment:
                common = gcd(common, alignment, self.pool.origin)
        return max(common, 1)

    def highest_end(self, offsets: Offsets) -> int:
        """Return the end of the highest member, beyond the pool if one is above its ceiling."""
        buffers = self.graph.buffers
        used = max((offsets[member] + buffers[member].size for member in self.members), default=0)
        above = (
            offsets[member] + buffers[member].size - ceiling
            for member, ceiling in self.ceilings.items()
        )
        return max(used, *(self.pool.size + each for each in above if each > 0), 0)

    @cached_property
    def ceilings(self) -> Mapping[int, int]:
        """Bytes of the pool within which some members have to end."""
        known = self.graph.ceilings
        pairs = ((member, (member, self.pool.name)) for member in self.members if known)
        return {member: known[key] for member, key in pairs if key in known}

    @cached_property
    def heaviest(self) -> int:
        """The most bytes of members that all conflict, less what overlaps may save."""
        return max((sum(self.weights(c, rounded=False).values()) for c in self.cliques), default=0)

    @cached_property
    def bound(self) -> int:
        """Bytes that every plan uses."""
        low = {member: self.align_up(member, 0) for member in self.members}
        stacked = max((self._stack(clique, low) for clique in self.cliques), default=0)
        return max(self.highest_end(low), stacked, self.heaviest)

    def _stack(self, clique: Sequence[int], low: Offsets) -> int:
        """Stack a clique in the order of its lowest offsets; the topmost is not rounded up."""
        weights, sizes = self.weights(clique, rounded=True), self.graph.buffers
        slack = max(self.round_up(sizes[member].size) - sizes[member].size for member in clique)
        height = self.first
        for member in sorted(clique, key=lambda each: low[each]):
            height = max(height, low[member]) + weights[member]
        return height - slack
