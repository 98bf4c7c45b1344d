"""The blocks of one pool, and what offsets they can have."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from atoll.memory.blocks import Blocks
from atoll.memory.problem import Interval, PoolSpace

Offsets = Mapping[int, int]
"""Offset in the pool, by number of the block."""


@dataclass(frozen=True)
class Packing:
    """Find offsets in `pool` for the blocks `members`.

    A pinned block is no part of the search: it forbids offsets to those that it conflicts with.
    """

    whole: Blocks
    pool: PoolSpace
    members: tuple[int, ...]

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Members without a pinned offset."""
        return tuple(m for m in self.members if self.whole.blocks[m].offset is None)

    @cached_property
    def pinned(self) -> Offsets:
        """Offsets of the other members."""
        blocks = self.whole.blocks
        return {m: offset for m in self.members if (offset := blocks[m].offset) is not None}

    @cached_property
    def grain(self) -> int:
        """Bytes of which the address of every free member is a multiple."""
        alignments = (self.alignment(member) for member in self.free)
        return min(alignments, default=self.pool.alignment)

    def alignment(self, member: int) -> int:
        """Return the alignment of a member in this pool."""
        return max(self.pool.alignment, self.whole.blocks[member].alignment)

    def rounded(self, size: int) -> int:
        """Return the bytes that a free member takes from one below another."""
        return -(-size // self.grain) * self.grain

    @cached_property
    def horizon(self) -> int:
        """Offset below which there is a plan, if there is one."""
        blocks = self.whole.blocks
        ends = [end for _, end in self.pool.reserved]
        ends += [block.offset + block.size for block in blocks if block.offset is not None]
        room = sum(
            block.size + self.alignment(n) + self.pool.bank for n, block in enumerate(blocks)
        )
        return min(self.pool.size, max(ends, default=0) + room)

    def forbidden(self, member: int) -> list[Interval]:
        """Return the offsets below the horizon at which a free member cannot start, sorted."""
        blocks, whole = self.whole.blocks, self.whole
        size = blocks[member].size
        spans = [(begin - size + 1, end) for begin, end in self.pool.reserved]
        if self.pool.bank:
            borders = range(self.pool.bank, self.horizon, self.pool.bank)
            spans += [(border - size + 1, border) for border in borders]
        if self.pinned:
            for other in self.pinned.keys() & set(whole.neighbours[member]):
                offset = self.pinned[other]
                low = offset - whole.separation(member, other) + 1
                spans.append((low, offset + whole.separation(other, member)))
        return _joined(span for span in sorted(spans) if span[0] < span[1])

    @property
    def first(self) -> int:
        """Lowest offset of which the address is a multiple of the grain."""
        return -self.pool.origin % self.grain

    def aligned(self, member: int, offset: int) -> int:
        """Return the lowest offset from `offset` on at which a member's address is aligned."""
        return offset + -(self.pool.origin + offset) % self.alignment(member)

    def lifted(self, member: int, offset: int, forbidden: Sequence[Interval]) -> int:
        """Return the lowest offset from `offset` on that is aligned and not forbidden."""
        offset = self.aligned(member, offset)
        for begin, end in forbidden:
            if begin <= offset < end:
                offset = self.aligned(member, end)
        return offset

    @cached_property
    def cliques(self) -> tuple[tuple[int, ...], ...]:
        """Members that all conflict with each other: every such set that is known."""
        inside = set(self.members)
        if len(inside) == len(self.whole.blocks):
            return self.whole.cliques
        found = (tuple(m for m in clique if m in inside) for clique in self.whole.cliques)
        return tuple(dict.fromkeys(clique for clique in found if clique))

    def weights(self, clique: Sequence[int], *, rounded: bool) -> dict[int, int]:
        """Return the bytes that each member of a clique surely adds to those it is stacked on.

        A block that may overlap an earlier one adds what it has more.
        """
        blocks = self.whole.blocks
        weights = {member: self._weight(member, rounded=rounded) for member in clique}
        if self.whole.nearer:
            inside = set(clique)
            for (later, earlier), distance in self.whole.nearer.items():
                if later in inside and earlier in inside:
                    saved = min(blocks[later].size - distance, blocks[earlier].size)
                    if rounded:
                        saved = self.rounded(saved)
                    weights[later] = max(0, weights[later] - saved)
        return weights

    def _weight(self, member: int, *, rounded: bool) -> int:
        """Return the bytes of a member; rounded, those that no other member's can reach."""
        size = self.whole.blocks[member].size
        if not rounded:
            return size
        if member not in self.pinned:
            return self.rounded(size)
        begin = self.pool.origin + self.pinned[member]
        return max(0, (begin + size) // self.grain * self.grain - self.rounded(begin))

    @cached_property
    def step(self) -> int:
        """Bytes of which the space used is a multiple, whatever the plan."""
        blocks = self.whole.blocks
        common = gcd(*(blocks[member].size for member in self.members), *self.whole.nearer.values())
        common = gcd(common, *(end for _, end in self.pool.reserved), self.pool.bank)
        common = gcd(common, *self.pinned.values())
        for alignment in {self.alignment(member) for member in self.free}:
            if common % alignment or self.pool.origin % alignment:
                common = gcd(common, alignment, self.pool.origin)
        return max(common, 1)


def _joined(spans: Iterable[Interval]) -> list[Interval]:
    joined: list[Interval] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined
