"""What planners place: blocks, each the storage of one buffer or of several aliases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from atoll.memory.conflicts import conflicting_pairs, moments
from atoll.memory.problem import Buffer, Interval, Problem

Separations = Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A storage.

    Attributes:
        names: its buffers.
        size: bytes of the largest.
        alignment: of the most aligned.
        pools: where it may be, best first.
        costs: the price of each of these pools: cost, then bytes x place in the list.
        offset: where it has to be in its pool, or None.
        live: steps in which any of its buffers is live; intervals may overlap.
    """

    names: tuple[str, ...]
    size: int
    alignment: int
    pools: tuple[str, ...]
    costs: tuple[tuple[int, int], ...]
    offset: int | None
    live: tuple[Interval, ...]


@dataclass(frozen=True)
class Blocks:
    """A problem made ready for planners.

    Attributes:
        blocks: in the order of the problem's buffers.
        neighbours: the blocks that conflict with each block, ascending.
        nearer: bytes by which the second block has to be above the first if it is above it,
            where that is not the size of the first.
        cliques: sets of blocks that all conflict with each other; every block is in one.
        apart: groups of blocks of which no two may be in one pool.
    """

    problem: Problem
    blocks: tuple[Block, ...]
    neighbours: tuple[tuple[int, ...], ...]
    nearer: Separations
    apart: tuple[tuple[int, ...], ...]

    @cached_property
    def cliques(self) -> tuple[tuple[int, ...], ...]:
        """Sets of blocks that all conflict with each other; every block is in one."""
        if self.problem.conflicts is None and not self.problem.exclusive:
            return self._moments()
        return tuple(dict.fromkeys(self._grown(block) for block in range(len(self.blocks))))

    def separation(self, lower: int, upper: int) -> int:
        """Return by how much `upper` has to start above `lower` if it is above it."""
        return self.nearer.get((lower, upper), self.blocks[lower].size)

    def _moments(self) -> tuple[tuple[int, ...], ...]:
        number = block_numbers(self.blocks)
        found = (
            tuple(sorted({number[name] for name in live})) for live in moments(self.problem.buffers)
        )
        return tuple(dict.fromkeys(found))

    def _grown(self, seed: int) -> tuple[int, ...]:
        """Return a clique with `seed`, the largest blocks first."""
        clique = [seed]
        common = set(self.neighbours[seed])
        for block in sorted(common, key=lambda each: (-self.blocks[each].size, each)):
            if block in common:
                clique.append(block)
                common &= set(self.neighbours[block])
        return tuple(sorted(clique))


def make_blocks(problem: Problem) -> Blocks:
    """Join aliases and find what conflicts."""
    group_of = {name: group for group in problem.aliases for name in group}
    groups: dict[tuple[str, ...], list[Buffer]] = {}
    for buffer in problem.buffers:
        groups.setdefault(group_of.get(buffer.name, (buffer.name,)), []).append(buffer)
    there = {pool.name for pool in problem.pools}
    blocks = tuple(
        _joined(buffers, set() if _torn(names, problem) else there)
        for names, buffers in groups.items()
    )
    number = block_numbers(blocks)
    neighbours, nearer = _neighbours(problem, number, blocks)
    apart = tuple(tuple(sorted({number[name] for name in group})) for group in problem.apart)
    return Blocks(problem, blocks, neighbours, nearer, apart)


def block_numbers(blocks: Sequence[Block]) -> Mapping[str, int]:
    """Return the place of each buffer's block."""
    return {name: place for place, block in enumerate(blocks) for name in block.names}


def _torn(names: Sequence[str], problem: Problem) -> bool:
    """Tell whether aliases would have to be in different pools."""
    return any(len(set(names) & set(group)) > 1 for group in problem.apart)


def _joined(buffers: Sequence[Buffer], there: Set[str]) -> Block:
    allowed = [there & set(_pools(buffer)) for buffer in buffers]
    offsets = {b.pin.offset for b in buffers if b.pin and b.pin.offset is not None}
    pools = [pool for pool in buffers[0].pools if all(pool in each for each in allowed)]
    if len(offsets) > 1:
        pools = []
    return Block(
        names=tuple(buffer.name for buffer in buffers),
        size=max(buffer.size for buffer in buffers),
        alignment=max(buffer.alignment for buffer in buffers),
        pools=tuple(pools),
        costs=tuple(
            (
                sum(buffer.cost(pool) for buffer in buffers),
                sum(buffer.size * buffer.pools.index(pool) for buffer in buffers),
            )
            for pool in pools
        ),
        offset=min(offsets, default=None),
        live=tuple(sorted(interval for buffer in buffers for interval in buffer.live)),
    )


def _pools(buffer: Buffer) -> Iterator[str]:
    pinned = buffer.pin.pool if buffer.pin else None
    return (pool for pool in buffer.pools if pinned in (None, pool))


def _neighbours(
    problem: Problem, number: Mapping[str, int], blocks: Sequence[Block]
) -> tuple[tuple[tuple[int, ...], ...], Separations]:
    distances = {(each.later, each.earlier): each.distance for each in problem.overlaps}
    neighbours: list[list[int]] = [[] for _ in blocks]
    related: dict[tuple[int, int], int] = {}
    plain: set[tuple[int, int]] = set()
    touched = {number[name] for pair in distances for name in pair}
    for one, other in conflicting_pairs(problem):
        a, b = number[one], number[other]
        if a == b:
            continue
        neighbours[a].append(b)
        neighbours[b].append(a)
        if a not in touched or b not in touched:
            continue
        for pair in ((one, other), (other, one)):
            if pair in distances:
                lower, upper = number[pair[0]], number[pair[1]]
                distance = max(distances[pair], related.get((lower, upper), 0))
                related[lower, upper] = min(distance, blocks[lower].size)
                break
        else:
            plain |= {(a, b), (b, a)}
    nearer = {
        (lower, upper): distance
        for (lower, upper), distance in related.items()
        if (lower, upper) not in plain and (upper, lower) not in related
    }
    if _circular(nearer):  # through aliases: several buffers of one storage
        nearer = {
            pair: distance
            for pair, distance in nearer.items()
            if all(len(blocks[block].names) == 1 for block in pair)
        }
    return tuple(tuple(sorted(set(each))) for each in neighbours), nearer


def _circular(pairs: Iterable[tuple[int, int]]) -> bool:
    before: dict[int, list[int]] = {}
    for lower, upper in pairs:
        before.setdefault(upper, []).append(lower)
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        return True
    return False
