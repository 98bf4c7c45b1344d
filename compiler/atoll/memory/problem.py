# SPDX-License-Identifier: Apache-2.0
"""The memory planning problem and its answers. Plain data; planners and the checker share it."""

from collections.abc import Mapping

from atoll.ir.ceiling import Ceiling
from atoll.records import dataclass

UNBOUNDED = 1 << 48
"""Bytes that no memory has: the size of a pool without a limit is at least that."""

Interval = tuple[int, int]
"""Half-open: the first step or offset, and the first one past it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpace:
    """A pool as the planner sees it.

    Attributes:
        origin: absolute address of offset 0.
        size: hard limit in bytes.
        alignment: least alignment of every buffer in it.
        heap: bytes right behind it that the workspace allocator gives out.
        beside: bytes of the chip's pool that the plan has no say in: other models' constants, heap.
    """

    name: str
    origin: int
    size: int
    alignment: int
    heap: int = 0
    beside: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Bytes that must be somewhere.

    Attributes:
        name: unique in the problem.
        size: bytes, at least 1.
        alignment: bytes, a power of two.
        live: half-open intervals of steps, sorted and disjoint; constants live in all steps.
        pools: candidate pools, best first.
        uses: how often a run reads or writes it, at least 1.
        ceilings: at most one for each pool.
    """

    name: str
    size: int
    alignment: int
    live: tuple[Interval, ...]
    pools: tuple[str, ...]
    uses: int = 1
    ceilings: tuple[Ceiling, ...] = ()

    def cost(self, pool: str) -> int:
        """Return the bytes that a run moves, times the place of a candidate pool behind the best.

        What does not fit the best pool shall be what is moved least.
        """
        return self.size * self.uses * self.pools.index(pool)

    @property
    def length(self) -> int:
        """How many steps it is live in."""
        return sum(end - begin for begin, end in self.live)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Lets a later buffer take over bytes of an earlier one while the earlier is being used up.

    A kernel that works in raster order has read an element of its input before the output grows
    over it, if the output starts far enough below. The two may share bytes as long as
    ``address(later) + distance <= address(earlier)``; otherwise they have to be apart as any two
    buffers that conflict. With a distance of 0 the buffers may start at one address (elementwise
    operators in place); a distance of `size` of the later buffer or more allows nothing.

    Attributes:
        later: the buffer that is written, an operator's output.
        earlier: the buffer that is read for the last time by that operator.
        distance: bytes, 0 or more, by which the later buffer has to start below the earlier one.
    """

    later: str
    earlier: str
    distance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Place every buffer in one of its pools so that no two that conflict share bytes.

    Two buffers conflict if they are live in one step. A plan is better if its buffers cost less;
    at equal cost, if the sum of used bytes over the pools is less.

    Attributes:
        pools: disjoint in the address space.
        buffers: in any order.
        overlaps: pairs that may share bytes although they conflict; no buffer takes over, even
            indirectly, itself.
    """

    pools: tuple[PoolSpace, ...]
    buffers: tuple[Buffer, ...]
    overlaps: tuple[Overlap, ...] = ()


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
        peak: most bytes live in the pool at one step, less what overlaps may save.
        bound: no plan of the buffers that the plan put here uses less than this.
    """

    size: int
    used: int
    peak: int
    bound: int

    @property
    def gap(self) -> int:
        """Bytes that might still be saved."""
        return self.used - self.bound

    @property
    def limit(self) -> int | None:
        """The size, None if the pool has no limit."""
        return self.size if self.size < UNBOUNDED else None

    def as_json(self) -> dict[str, int | None]:
        """Return the fields by name."""
        figures = {f"{name}_bytes": getattr(self, name) for name in ("used", "peak", "bound")}
        return {"size_bytes": self.limit, **figures}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlan:
    """An answer to `problem`; `atoll.memory.checker` has accepted it.

    Attributes:
        placements: one per buffer, by buffer name; of a program, one more per part of a buffer.
        use: by pool name, for every pool of the problem.
        cost: sum over the buffers; 0 if each is in its best pool.
        cost_bound: no plan costs less.
        algorithm: name of the one that found it.
    """

    problem: Problem
    placements: Mapping[str, Placement]
    use: Mapping[str, PoolUse]
    cost: int = 0
    cost_bound: int = 0
    algorithm: str = ""

    def address(self, buffer: str) -> int:
        """Return the absolute address of `buffer`."""
        placement = self.placements[buffer]
        pool = next(pool for pool in self.problem.pools if pool.name == placement.pool)
        return pool.origin + placement.offset

    @property
    def gap(self) -> int:
        """Bytes that might still be saved in all pools together, each with the buffers it has."""
        return sum(use.gap for use in self.use.values())

    @property
    def optimal(self) -> bool:
        """Proven: no plan costs less, and no pool can hold what it holds in less."""
        return self.cost == self.cost_bound and self.gap == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasible:
    """The other answer: no plan was found.

    Attributes:
        buffers: names of buffers that have no plan even on their own; all of them if no fewer are
            known.
        proven: there surely is no plan.
    """

    problem: Problem
    buffers: tuple[str, ...]
    proven: bool


Answer = MemoryPlan | Infeasible
