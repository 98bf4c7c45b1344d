# SPDX-License-Identifier: Apache-2.0
"""What a picture of a pool shows: a rectangle of time and address for each life of a buffer."""

from collections.abc import Iterator

from atoll.memory.problem import MemoryPlan, PoolSpace
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One life of a buffer.

    Attributes:
        buffer: its name.
        number: counts the buffers of the pool from 0, so that one always looks alike.
        begin: first step.
        end: step behind the last one.
        low: first byte, from the start of the pool.
        high: byte behind the last one.
    """

    buffer: str
    number: int
    begin: int
    end: int
    low: int
    high: int

    def __str__(self) -> str:
        steps = (
            f"step {self.begin}"
            if self.end == self.begin + 1
            else (f"steps {self.begin} to {self.end - 1}")
        )
        return f"{self.buffer}: {self.high - self.low:,} B at {self.low:,}, {steps}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPicture:
    """A pool that holds something.

    Attributes:
        network: whose buffers these are, if there are several.
        size: bytes that the pool has; as good as infinite for a pool without a limit.
        used: end of the highest block: the peak.
        bound: no plan of the same buffers uses less.
        begin: first step at which anything is live.
        end: step behind the last one.
        blocks: in the order of their beginning, then of their address.
    """

    pool: str
    size: int
    used: int
    bound: int
    begin: int
    end: int
    blocks: tuple[Block, ...]
    network: str = ""

    @property
    def caption(self) -> str:
        """What the pool comes to, in a line."""
        proof = "optimal" if self.used == self.bound else f"at least {self.bound:,} B are needed"
        owner = f"{self.network}, " if self.network else ""
        return f"{owner}{self.pool}: {self.used:,} B used, {proof}"


def pool_pictures(plan: MemoryPlan, network: str = "") -> Iterator[PoolPicture]:
    """Yield the picture of every pool of `plan` that holds a buffer.

    `network` is named in them; "" if there is no other.
    """
    for pool in plan.problem.pools:
        if blocks := tuple(_blocks(plan, pool)):
            use = plan.use[pool.name]
            yield PoolPicture(
                pool=pool.name,
                size=pool.size,
                used=use.used,
                bound=use.bound,
                begin=min(block.begin for block in blocks),
                end=max(block.end for block in blocks),
                blocks=blocks,
                network=network,
            )


def _blocks(plan: MemoryPlan, pool: PoolSpace) -> Iterator[Block]:
    placements = plan.placements
    inside = [b for b in plan.problem.buffers if placements[b.name].pool == pool.name]
    inside.sort(key=lambda buffer: (buffer.live, placements[buffer.name].offset))
    for number, buffer in enumerate(inside):
        offset = placements[buffer.name].offset
        for begin, end in buffer.live:
            yield Block(
                buffer=buffer.name,
                number=number,
                begin=begin,
                end=end,
                low=offset,
                high=offset + buffer.size,
            )
