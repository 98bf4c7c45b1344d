# SPDX-License-Identifier: Apache-2.0
"""Accept or refuse a memory plan. Shares no code with any planner.

Takes n log n comparisons for n buffers, plus one for each pair that an overlap of the problem
lets share bytes.
"""

from collections.abc import Iterator, Mapping

from atoll.diagnostics.errors import Fault, PlanError
from atoll.memory.checker_clashes import Span, clashes
from atoll.memory.problem import Buffer, MemoryPlan, Placement, PoolSpace
from atoll.memory.problem_rules import ill_formed as _broken
from atoll.memory.problem_rules import problem_faults


def check(plan: MemoryPlan) -> None:
    """Accept `plan` if it solves its problem.

    Raises:
        PlanError: E063, two buffers share bytes although they conflict; E064, a buffer is missing,
            unknown, in a pool that it may not be in, misaligned or outside of its pool, a figure
            of the plan is wrong, or the problem itself is not well-formed.
    """
    faults = tuple(violations(plan))
    if faults:
        raise PlanError.all(faults)


def violations(plan: MemoryPlan) -> Iterator[Fault]:
    """Yield every rule that `plan` breaks."""
    problem = plan.problem
    yield from problem_faults(problem)
    pools = {pool.name: pool for pool in problem.pools}
    for stray in sorted(plan.placements.keys() - {buffer.name for buffer in problem.buffers}):
        yield _broken(f"'{stray}' is placed, but is no buffer of the problem")
    spans: dict[str, Span] = {}
    for buffer in problem.buffers:
        placement = plan.placements.get(buffer.name)
        faults = tuple(_check_place(buffer, placement, pools))
        yield from faults
        if placement is not None and placement.pool in pools:
            begin = pools[placement.pool].origin + placement.offset
            spans[buffer.name] = Span(begin, begin + buffer.size, buffer.name, placement.pool)
    yield from clashes(problem, spans)
    yield from _wrong_use(plan, spans)
    yield from _wrong_cost(plan)


def _check_place(
    buffer: Buffer, placement: Placement | None, pools: Mapping[str, PoolSpace]
) -> Iterator[Fault]:
    """Yield what is wrong with where one buffer is, other buffers aside."""
    subject = f"buffer '{buffer.name}'"
    if placement is None:
        yield _broken(f"{subject} is not placed")
        return
    if placement.buffer != buffer.name:
        yield _broken(f"{subject} has the placement of '{placement.buffer}'")
    if placement.pool not in buffer.pools or placement.pool not in pools:
        allowed = ", ".join(f"'{name}'" for name in buffer.pools) or "none"
        yield _broken(f"{subject} is in pool '{placement.pool}', but may only be in {allowed}")
    if placement.pool not in pools:
        return
    pool = pools[placement.pool]
    place = f"{subject} in pool '{pool.name}' at {pool.origin + placement.offset:#010x}"
    for each in buffer.ceilings:
        if each.pool == pool.name and placement.offset + buffer.size > each.size:
            yield _broken(f"{place} ends beyond byte {each.size} of the pool, its ceiling")
    for reason in _wrong_offsets(buffer, placement.offset, pool):
        yield _broken(f"{place} {reason}")


def _wrong_offsets(buffer: Buffer, offset: int, pool: PoolSpace) -> Iterator[str]:
    """Yield what is wrong with the place of a buffer in its pool."""
    for alignment, owner in ((buffer.alignment, "the buffer"), (pool.alignment, "the pool")):
        if (pool.origin + offset) % alignment:
            yield f"breaks the alignment of {alignment} bytes of {owner}"
    end = offset + buffer.size
    if offset < 0 or end > pool.size:
        span = f"{pool.origin:#010x}..{pool.origin + pool.size - 1:#010x}"
        yield f"with {buffer.size} bytes leaves its pool, which spans {span}"


def _wrong_use(plan: MemoryPlan, spans: Mapping[str, Span]) -> Iterator[Fault]:
    """Yield what the plan says wrongly about its pools."""
    for pool in plan.problem.pools:
        ends = [span.end - pool.origin for span in spans.values() if span.pool == pool.name]
        used, use = max(ends, default=0), plan.use.get(pool.name)
        if use is None:
            yield _broken(f"the plan does not say what it uses of pool '{pool.name}'")
        elif (use.size, use.used) != (pool.size, used):
            yield _broken(
                f"pool '{pool.name}' has {pool.size} bytes and {used} used, "
                f"not {use.size} and {use.used}"
            )
        elif not use.peak <= use.bound <= use.used:
            yield _broken(
                f"pool '{pool.name}' cannot have a peak of {use.peak}, "
                f"a bound of {use.bound} and {use.used} bytes used"
            )


def _wrong_cost(plan: MemoryPlan) -> Iterator[Fault]:
    """Yield what the plan says wrongly about its cost."""
    cost = 0
    for buffer in plan.problem.buffers:
        placement = plan.placements.get(buffer.name)
        if placement is not None and placement.pool in buffer.pools:
            cost += buffer.uses * buffer.size * buffer.pools.index(placement.pool)
    if not plan.cost_bound <= cost == plan.cost:
        yield _broken(
            f"the plan costs {cost}, not {plan.cost} with a lower bound of {plan.cost_bound}"
        )
