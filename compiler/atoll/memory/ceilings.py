# SPDX-License-Identifier: Apache-2.0
"""Buffers that lie below a height in some of their pools."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.diagnostics.errors import Fault
from atoll.diagnostics.units import format_size
from atoll.ir.ceiling import Ceiling
from atoll.memory.problem import (
    Answer,
    Buffer,
    Infeasible,
    MemoryPlan,
    Placement,
    Problem,
)

Solve = Callable[[Problem], Answer]
Search = Callable[[Problem], Mapping[str, Placement] | None]

_LISTED = 3
"""Buffers of one ceiling that a message names."""


def with_ceilings(problem: Problem, ceilings: Mapping[str, tuple[Ceiling, ...]]) -> Problem:
    """Return the problem whose buffers keep to ceilings, by name of buffer."""
    if not ceilings:
        return problem
    buffers = (replace(each, ceilings=ceilings.get(each.name, ())) for each in problem.buffers)
    return replace(problem, buffers=tuple(buffers))


def without_ceilings(problem: Problem) -> Problem:
    """Return the problem whose buffers may lie at any height."""
    return replace(problem, buffers=tuple(replace(each, ceilings=()) for each in problem.buffers))


def too_low(problem: Problem, free: MemoryPlan, search: Search, *, proven: bool) -> Iterator[Fault]:
    """Yield which ceilings leave no room; those of the remedies do.

    If one is enough, the others that would be are told in its remedy; else all are needed.

    Args:
        problem: without a plan.
        free: a plan without ceilings.
        search: the planner.
        proven: there surely is no plan.
    """
    known = tuple(dict.fromkeys(each for one in problem.buffers for each in one.ceilings))
    alone = ((each, search(_raise_ceiling(problem, each, None))) for each in known)
    helpful = [(_end(problem, each, places), each) for each, places in alone if places is not None]
    if helpful:
        (high, least), *others = sorted(helpful, key=lambda one: one[0] - one[1].size)
        low = least.size
        while high - low > 1:
            middle = (low + high) // 2
            fits = search(_raise_ceiling(problem, least, middle)) is not None
            low, high = (low, middle) if fits else (middle, high)
        either = "".join(
            f", or that of {each.asked} in pool '{each.pool}' to {format_size(end)}"
            for end, each in others
        )
        remedy = f"{'either ' * bool(others)}raise the size hint to {format_size(high)}{either}"
        yield _too_low(problem, least, remedy, proven=proven)
        return
    needed = _needed_ceilings(problem, free, known, search)
    for each, end in needed.items():
        also = " and those of the other messages as they say" if len(needed) > 1 else ""
        remedy = f"raise the size hint to {format_size(end)}{also}"
        yield _too_low(problem, each, remedy, proven=proven)


def _needed_ceilings(
    problem: Problem, free: MemoryPlan, known: Sequence[Ceiling], search: Search
) -> dict[Ceiling, int]:
    """Return ceilings and heights with which there is a plan; each of them is needed for it."""
    ends = {each: _end(problem, each, free.placements) for each in known}
    needed = {each: end for each, end in ends.items() if end > each.size}
    for left_out in tuple(needed):
        fewer = {each: end for each, end in needed.items() if each != left_out}
        trial = problem
        for each, end in fewer.items():
            trial = _raise_ceiling(trial, each, end)
        if search(trial) is not None:
            needed = fewer
    return needed


def _raise_ceiling(problem: Problem, ceiling: Ceiling, size: int | None) -> Problem:
    """Return the problem with one ceiling at another height, or without it."""

    def ceilings_of(buffer: Buffer) -> Iterator[Ceiling]:
        for each in buffer.ceilings:
            if each != ceiling:
                yield each
            elif size is not None:
                yield replace(each, size=size)

    buffers = (replace(each, ceilings=tuple(ceilings_of(each))) for each in problem.buffers)
    return replace(problem, buffers=tuple(buffers))


def _end(problem: Problem, ceiling: Ceiling, places: Mapping[str, Placement]) -> int:
    """Return where the highest of the buffers of a ceiling ends in its pool."""
    ends = (
        places[each.name].offset + each.size
        for each in problem.buffers
        if ceiling in each.ceilings and places[each.name].pool == ceiling.pool
    )
    return max(ends, default=0)


def _too_low(problem: Problem, ceiling: Ceiling, remedy: str, *, proven: bool) -> Fault:
    buffers = [each for each in problem.buffers if ceiling in each.ceilings]
    named = [f"'{each.name}' ({format_size(each.size)})" for each in buffers[:_LISTED]]
    more = f" and {len(buffers) - _LISTED} more" if len(buffers) > _LISTED else ""
    return Fault(
        code="E206",
        message=f"{ceiling.asked} lets buffer{'s' * (len(buffers) > 1)} {', '.join(named)}{more} "
        f"lie in the first {format_size(ceiling.size)} of pool '{ceiling.pool}', and "
        f"{'there is no plan' if proven else 'no plan was found'} with that",
        at=ceiling.at,
        remedy=remedy,
    )


def solve_below(problem: Problem, solve: Solve) -> Answer:
    """Answer a problem with ceilings by a planner that knows of none.

    A pool all of whose buffers have one is that much smaller. Of the others, what a plan puts too
    high goes to its next pool, that which is moved least first.
    """
    easier = _easier(problem)
    bound = None
    while all(each.pools for each in easier.buffers):
        answer = solve(easier)
        if not isinstance(answer, MemoryPlan):
            break
        bound = answer.cost_bound if bound is None else bound
        high = _high(problem, answer)
        if not high:
            return _of(problem, answer, bound)
        moved = min(high, key=lambda each: (len(each.pools) < 2, each.uses * each.size, each.name))
        pool = answer.placements[moved.name].pool
        easier = replace(
            easier,
            buffers=tuple(
                replace(each, pools=tuple(p for p in each.pools if p != pool))
                if each.name == moved.name
                else each
                for each in easier.buffers
            ),
        )
    names = tuple(each.name for each in problem.buffers)
    return Infeasible(problem=problem, buffers=names, proven=False)


def _easier(problem: Problem) -> Problem:
    """Return the problem without ceilings that each plan of `problem` answers."""
    buffers = tuple(
        replace(each, ceilings=(), pools=tuple(p for p in each.pools if _fits(each, p)))
        for each in problem.buffers
    )
    tops: dict[str, int | None] = {}
    for each in problem.buffers:
        for pool in each.pools:
            top = _top(each, pool)
            known = tops.setdefault(pool, top)
            tops[pool] = None if top is None or known is None else max(top, known)
    pools = tuple(
        replace(each, size=min(each.size, top) if (top := tops.get(each.name)) else each.size)
        for each in problem.pools
    )
    return replace(problem, pools=pools, buffers=buffers)


def _top(buffer: Buffer, pool: str) -> int | None:
    return next((each.size for each in buffer.ceilings if each.pool == pool), None)


def _fits(buffer: Buffer, pool: str) -> bool:
    top = _top(buffer, pool)
    return top is None or buffer.size <= top


def _high(problem: Problem, plan: MemoryPlan) -> list[Buffer]:
    """Return the buffers that a plan puts above their ceilings."""
    found = []
    for each in problem.buffers:
        place = plan.placements[each.name]
        top = _top(each, place.pool)
        if top is not None and place.offset + each.size > top:
            found.append(each)
    return found


def _of(problem: Problem, plan: MemoryPlan, bound: int) -> MemoryPlan:
    """Return the plan of an easier problem as one of `problem`."""
    sizes = {pool.name: pool.size for pool in problem.pools}
    cost = sum(each.cost(plan.placements[each.name].pool) for each in problem.buffers)
    use = {name: replace(each, size=sizes[name]) for name, each in plan.use.items()}
    return replace(plan, problem=problem, use=use, cost=cost, cost_bound=min(bound, cost))
