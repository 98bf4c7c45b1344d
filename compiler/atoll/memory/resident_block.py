# SPDX-License-Identifier: Apache-2.0
"""Buffers that are always live and can only be in one pool, planned as one.

Constants mostly are, and networks have thousands. They conflict with whatever is in the pool. If
all else in it is aligned to the same few bytes, the grain, some best plan has them one behind the
other. Those that are aligned more strictly are a block of their own, which leaves no gaps: blocks
are only made where their sizes are multiples of their alignment.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from atoll.memory.problem import Buffer, MemoryPlan, Placement, PoolSpace, Problem
from atoll.records import dataclass

LEAST = 256
"""Buffers of a block; fewer are no work, and planners may mix them with others."""


@dataclass(frozen=True, slots=True)
class Block:
    """Buffers of one pool, one behind the other.

    Attributes:
        whole: what planners see in their place.
        offsets: of each member from the start of the block, by name.
        live: bytes of all members, without what alignment adds.
        cost: of all members.
    """

    whole: Buffer
    pool: str
    offsets: Mapping[str, int]
    live: int
    cost: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """A problem, and what is left of it with blocks."""

    problem: Problem
    blocks: tuple[Block, ...]

    @property
    def fewer(self) -> Problem:
        """The problem with blocks in the place of their members."""
        inside = {name for block in self.blocks for name in block.offsets}
        rest = (buffer for buffer in self.problem.buffers if buffer.name not in inside)
        return replace(self.problem, buffers=(*rest, *(block.whole for block in self.blocks)))

    def expand(self, plan: MemoryPlan) -> MemoryPlan:
        """Return a plan of `fewer` as one of the problem."""
        placements, use, cost = dict(plan.placements), dict(plan.use), 0
        for block in self.blocks:
            start = placements.pop(block.whole.name).offset
            for name, offset in block.offsets.items():
                placements[name] = Placement(buffer=name, pool=block.pool, offset=start + offset)
            of = use[block.pool]
            use[block.pool] = replace(of, peak=of.peak - block.whole.size + block.live)
            cost += block.cost
        return replace(
            plan,
            problem=self.problem,
            placements={buffer.name: placements[buffer.name] for buffer in self.problem.buffers},
            use=use,
            cost=plan.cost + cost,
            cost_bound=plan.cost_bound + cost,
        )


def blocks_of(problem: Problem) -> Blocks:
    """Find the blocks of a problem, none where it is small."""
    begin = min((buffer.live[0][0] for buffer in problem.buffers), default=0)
    end = max((buffer.live[-1][1] for buffer in problem.buffers), default=0)
    tied = {name for overlap in problem.overlaps for name in (overlap.later, overlap.earlier)}
    there = {pool.name for pool in problem.pools}
    inside: dict[str, list[Buffer]] = defaultdict(list)
    fixed: dict[str, list[Buffer]] = defaultdict(list)
    for buffer in problem.buffers:
        homes = [name for name in buffer.pools if name in there]
        for name in homes:
            inside[name].append(buffer)
        always = buffer.live == ((begin, end),) and buffer.name not in tied and not buffer.ceilings
        if always and len(homes) == 1:
            fixed[homes[0]].append(buffer)
    names = {buffer.name for buffer in problem.buffers}
    return Blocks(
        problem,
        tuple(
            _block(pool, group, _free(f"{number} constants of {pool.name}", names))
            for pool in problem.pools
            if len(fixed[pool.name]) >= LEAST and _stacks(pool, fixed[pool.name], inside[pool.name])
            for number, group in enumerate(_by_grain(pool, fixed[pool.name]))
        ),
    )


def _by_grain(pool: PoolSpace, members: list[Buffer]) -> Iterator[list[Buffer]]:
    """Yield the members of the least alignment, and all others."""
    grain = min(_alignment(member, pool) for member in members)
    for strict in (False, True):
        group = [member for member in members if (_alignment(member, pool) > grain) is strict]
        if group:
            yield group


def _stacks(pool: PoolSpace, members: list[Buffer], inside: list[Buffer]) -> bool:
    """Tell whether members can be at the bottom of a pool in some best plan."""
    alignments = {buffer.name: _alignment(buffer, pool) for buffer in inside}
    grain = min(alignments.values())
    within = {member.name for member in members}
    strict = [buffer for buffer in inside if alignments[buffer.name] > grain]
    flush = all(b.name in within and b.size % alignments[b.name] == 0 for b in strict)
    return flush and (not strict or pool.origin % max(alignments.values()) == 0)


def _block(pool: PoolSpace, members: list[Buffer], name: str) -> Block:
    """Stack buffers; of those of the grain the one that is rounded up the most is the last."""
    grain = min(_alignment(member, pool) for member in members)

    def slack(buffer: Buffer) -> int:
        return -buffer.size % grain

    def place(buffer: Buffer) -> tuple[int, int, str]:
        return -_alignment(buffer, pool), -buffer.size, buffer.name

    order = sorted(members, key=place)
    last = max(reversed(order), key=slack)
    order.remove(last)
    order.append(last)
    offsets, height = {}, 0
    for buffer in order:
        offsets[buffer.name] = height
        height += buffer.size + slack(buffer)
    return Block(
        whole=replace(
            last,
            name=name,
            size=height - slack(last),
            alignment=max(_alignment(member, pool) for member in members),
            pools=(pool.name,),
        ),
        pool=pool.name,
        offsets=offsets,
        live=sum(buffer.size for buffer in members),
        cost=sum(buffer.cost(pool.name) for buffer in members),
    )


def _alignment(buffer: Buffer, pool: PoolSpace) -> int:
    return max(buffer.alignment, pool.alignment)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
