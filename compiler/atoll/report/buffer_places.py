# SPDX-License-Identifier: Apache-2.0
"""Where else a buffer could be, and what each other place lacks."""

from collections.abc import Iterator

from atoll.diagnostics.units import format_size
from atoll.memory.problem import Buffer, MemoryPlan
from atoll.reach.candidates import (
    CONSTANT_ROLES,
    WORKSPACE_ROLES,
    Needs,
    by_preference,
    unmet_needs,
)
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, Pool, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A place where a buffer is not.

    Attributes:
        lacks: what keeps the buffer from there; empty if nothing does.
        remark: why it is not there although nothing is lacking.
    """

    place: str
    lacks: tuple[str, ...]
    remark: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {'; '.join(self.lacks) or self.remark}"

    def as_json(self) -> dict[str, object]:
        """Return the alternative for machines."""
        remark = "" if self.lacks else self.remark
        return {"place": self.place, "lacks": list(self.lacks), "remark": remark}


def other_pools(
    soc: ResolvedSoc, plan: MemoryPlan, buffer: Buffer, needs: Needs, *, constant: bool
) -> Iterator[Alternative]:
    """Yield every pool but the one that holds a planned buffer, the preferred one first."""
    chosen = plan.placements[buffer.name].pool
    roles = CONSTANT_ROLES if constant else WORKSPACE_ROLES
    for pool in by_preference(soc):
        if pool.name == chosen:
            continue
        lacks = tuple(pool_lacks(pool, needs, roles, buffer.size))
        if not lacks and pool.name not in buffer.pools:
            lacks = ("no candidate: a build option or an earlier stage ruled it out",)
        if not lacks and (room := free_room(plan, pool.name, buffer)) < buffer.size:
            lacks = (f"no room: at most {room:,} B are free together while it is live",)
        yield Alternative(place=pool.name, lacks=lacks, remark=_remark(chosen, pool.name, buffer))


def pool_lacks(pool: Pool, needs: Needs, roles: frozenset[str], size: int) -> Iterator[str]:
    """Yield what keeps a buffer out of a pool, whatever else is there: role, reach, size."""
    if pool.role not in roles:
        yield f"its role is {pool.role}, not {min(roles - {'both'})}"
    for device, need in unmet_needs(pool, needs).items():
        yield f"'{device}' has access {pool.reach[device]}, {need} needed"
    if pool.room < size:
        yield f"it has {format_size(pool.room)}, {format_size(size)} needed"


def stack_lacks(cpu: Cpu, size: int) -> Iterator[str]:
    """Yield the limit that keeps a kernel's buffer off the stack of its core."""
    alloca, total = cpu.max_stack_alloca_size, cpu.max_stack_size
    if size > alloca.value:
        yield f"max_stack_alloca_size is {alloca.value:,} B ({alloca.layer}), {size:,} B needed"
    else:
        yield f"max_stack_size is {total.value:,} B for all of a run ({total.layer})"


def free_room(plan: MemoryPlan, pool: str, buffer: Buffer) -> int:
    """Return the largest span of a pool that is free during the life of `buffer`, in bytes.

    The span starts where the pool and the buffer are aligned.
    """
    space = next(each for each in plan.problem.pools if each.name == pool)
    alignment = max(space.alignment, buffer.alignment)
    busy = sorted(
        (placement.offset, placement.offset + other.size)
        for other in plan.problem.buffers
        if (placement := plan.placements[other.name]).pool == pool and _meet(other, buffer)
    )
    free, largest = 0, 0
    for begin, end in (*busy, (space.size, space.size)):
        aligned = free + -(space.origin + free) % alignment
        largest = max(largest, begin - aligned)
        free = max(free, end)
    return largest


def _meet(one: Buffer, other: Buffer) -> bool:
    """Tell whether two buffers are live in one step; a buffer does not meet itself."""
    return one.name != other.name and any(
        begin < until and since < end for begin, end in one.live for since, until in other.live
    )


def _remark(chosen: str, pool: str, buffer: Buffer) -> str:
    earlier = pool in buffer.pools and buffer.pools.index(pool) < buffer.pools.index(chosen)
    if earlier:
        return f"possible, but the plan that uses the least memory needs it in '{chosen}'"
    return f"possible; '{chosen}' is tried first"
