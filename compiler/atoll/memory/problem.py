"""The memory planning problem and its answer. Plain data; planners and the checker share it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpace:
    """A pool as the planner sees it.

    Attributes:
        origin: absolute address of offset 0.
        size: hard limit in bytes.
        alignment: least alignment of every buffer in it.
        heap: bytes right behind it that the workspace allocator gives out.
    """

    name: str
    origin: int
    size: int
    alignment: int
    heap: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Bytes that must be somewhere.

    Attributes:
        name: unique in the problem.
        size: bytes, at least 1.
        alignment: bytes, a power of two.
        live: half-open intervals of steps, sorted and disjoint; constants live in all steps.
        pools: candidate pools, best first.
    """

    name: str
    size: int
    alignment: int
    live: tuple[tuple[int, int], ...]
    pools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Place every buffer in one of its pools so that no two overlap in space and time."""

    pools: tuple[PoolSpace, ...]
    buffers: tuple[Buffer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a buffer is."""

    buffer: str
    pool: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolUse:
    """What a plan makes of a pool, in bytes.

    Attributes:
        used: end of the highest buffer.
        peak: most bytes live in the pool at one step.
        bound: no plan of the buffers that the plan put here uses less than this.
    """

    size: int
    used: int
    peak: int
    bound: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """An answer to `problem`; `atoll.memory.checker` has accepted it.

    Attributes:
        placements: one per buffer, by buffer name.
        use: by pool name, for every pool of the problem.
    """

    problem: Problem
    placements: Mapping[str, Placement]
    use: Mapping[str, PoolUse]

    def address(self, buffer: str) -> int:
        """Return the absolute address of `buffer`."""
        placement = self.placements[buffer]
        pool = next(pool for pool in self.problem.pools if pool.name == placement.pool)
        return pool.origin + placement.offset
