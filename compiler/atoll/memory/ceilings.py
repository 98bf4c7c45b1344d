# SPDX-License-Identifier: Apache-2.0
"""Plan buffers that lie below a height in some of their pools, by planners that know of none."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from atoll.memory.problem import Answer, Buffer, Infeasible, MemoryPlan, Problem

Solve = Callable[[Problem], Answer]


def with_ceilings(problem: Problem, ceilings: Mapping[str, Mapping[str, int]]) -> Problem:
    """Return the problem whose buffers keep to ceilings, by name of buffer and of pool."""
    if not ceilings:
        return problem
    buffers = (
        replace(each, ceilings=tuple(ceilings.get(each.name, {}).items()))
        for each in problem.buffers
    )
    return replace(problem, buffers=tuple(buffers))


def without_ceilings(problem: Problem) -> Problem:
    """Return the problem whose buffers may lie at any height."""
    return replace(problem, buffers=tuple(replace(each, ceilings=()) for each in problem.buffers))


def solve_below(problem: Problem, solve: Solve) -> Answer:
    """Answer a problem with ceilings.

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
            top = dict(each.ceilings).get(pool)
            known = tops.setdefault(pool, top)
            tops[pool] = None if top is None or known is None else max(top, known)
    pools = tuple(
        replace(each, size=min(each.size, top) if (top := tops.get(each.name)) else each.size)
        for each in problem.pools
    )
    return replace(problem, pools=pools, buffers=buffers)


def _fits(buffer: Buffer, pool: str) -> bool:
    top = dict(buffer.ceilings).get(pool)
    return top is None or buffer.size <= top


def _high(problem: Problem, plan: MemoryPlan) -> list[Buffer]:
    """Return the buffers that a plan puts above their ceilings."""
    found = []
    for each in problem.buffers:
        place = plan.placements[each.name]
        top = dict(each.ceilings).get(place.pool)
        if top is not None and place.offset + each.size > top:
            found.append(each)
    return found


def _of(problem: Problem, plan: MemoryPlan, bound: int) -> MemoryPlan:
    """Return the plan of an easier problem as one of `problem`."""
    sizes = {pool.name: pool.size for pool in problem.pools}
    cost = sum(each.cost(plan.placements[each.name].pool) for each in problem.buffers)
    use = {name: replace(each, size=sizes[name]) for name, each in plan.use.items()}
    return replace(plan, problem=problem, use=use, cost=cost, cost_bound=min(bound, cost))
