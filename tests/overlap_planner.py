# SPDX-License-Identifier: Apache-2.0
"""A simple planner that lets results lie over operands, for tests of what runs on such plans.

Later buffers first, each at the lowest place where it meets none that it must not meet.
"""

from collections.abc import Iterator
from dataclasses import replace

from atoll.memory.problem import Buffer, MemoryPlan, Placement, PoolSpace, Problem


class Plan:
    """Places the buffers of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._pools = {pool.name: pool for pool in problem.pools}
        self._distance = {(each.later, each.earlier): each.distance for each in problem.overlaps}
        self._placed: list[tuple[Buffer, Placement]] = []

    def run(self) -> dict[str, Placement] | None:
        """Return a placement for each buffer, None if there is no room for one."""
        for buffer in sorted(self._problem.buffers, key=lambda b: (-b.live[0][0], -b.size)):
            placement = self._place(buffer)
            if placement is None:
                return None
            self._placed.append((buffer, placement))
        return {placement.buffer: placement for _, placement in self._placed}

    def _place(self, buffer: Buffer) -> Placement | None:
        for name in buffer.pools:
            for offset in sorted(self._offsets(buffer, self._pools[name])):
                if self._fits(buffer, self._pools[name], offset):
                    return Placement(buffer=buffer.name, pool=name, offset=offset)
        return None

    def _offsets(self, buffer: Buffer, pool: PoolSpace) -> Iterator[int]:
        alignment = max(pool.alignment, buffer.alignment)
        lowest = [0]
        for other, placement in self._rivals(buffer, pool):
            lowest += [placement.offset + other.size]
            if (distance := self._distance.get((other.name, buffer.name))) is not None:
                lowest += [placement.offset + distance]
        yield from (each + -(pool.origin + each) % alignment for each in lowest)

    def _fits(self, buffer: Buffer, pool: PoolSpace, offset: int) -> bool:
        return offset + buffer.size <= pool.size and all(
            offset >= placement.offset + other.size
            or offset + buffer.size <= placement.offset
            or offset >= placement.offset + self._distance.get((other.name, buffer.name), 1 << 40)
            for other, placement in self._rivals(buffer, pool)
        )

    def _rivals(self, buffer: Buffer, pool: PoolSpace) -> Iterator[tuple[Buffer, Placement]]:
        for other, placement in self._placed:
            together = any(a < d and c < b for a, b in buffer.live for c, d in other.live)
            if placement.pool == pool.name and together:
                yield other, placement


def overlapping(plan: MemoryPlan) -> MemoryPlan:
    """Return another plan of the same problem, `plan` if none is found.

    What it says of its pools is the size and what is used of it alone.
    """
    placements = Plan(plan.problem).run()
    if placements is None:
        return plan
    used = dict.fromkeys(plan.use, 0)
    for buffer in plan.problem.buffers:
        place = placements[buffer.name]
        used[place.pool] = max(used[place.pool], place.offset + buffer.size)
    use = {name: replace(each, used=used[name], peak=0, bound=0) for name, each in plan.use.items()}
    return replace(plan, placements=placements, use=use)


def overlapping_pairs(plan: MemoryPlan) -> int:
    """Count the pairs of buffers that share bytes although both are live in some step."""
    spans = {
        buffer.name: (plan.address(buffer.name), plan.address(buffer.name) + buffer.size)
        for buffer in plan.problem.buffers
    }
    return sum(
        spans[each.later][0] < spans[each.earlier][1]
        and spans[each.earlier][0] < spans[each.later][1]
        for each in plan.problem.overlaps
    )
