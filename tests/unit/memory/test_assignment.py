# SPDX-License-Identifier: Apache-2.0
"""Which buffers leave the preferred pool: those with which the least is moved, with proof."""

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from atoll.memory.effort import Effort
from atoll.memory.problem import Buffer, Infeasible, MemoryPlan, PoolSpace, Problem
from atoll.memory.solve import solve


def two_pools(buffers: Sequence[Buffer], size: int) -> Problem:
    pools = (
        PoolSpace(name="fast", origin=0, size=size, alignment=1),
        PoolSpace(name="slow", origin=1 << 20, size=1 << 10, alignment=1),
    )
    return Problem(pools=pools, buffers=tuple(buffers))


def together(random: Random, number: int) -> Buffer:
    """Make a buffer that is live with all others."""
    return Buffer(
        name=f"b{number}",
        size=random.randrange(1, 20),
        alignment=1,
        live=((0, 1),),
        pools=("fast", "slow"),
        uses=random.randrange(1, 10),
    )


def least_cost(problem: Problem) -> int:
    """Try every choice of what is moved out."""
    costs = []
    for moved in product((False, True), repeat=len(problem.buffers)):
        pairs = list(zip(problem.buffers, moved, strict=True))
        if sum(each.size for each, out in pairs if not out) <= problem.pools[0].size:
            costs.append(sum(each.size * each.uses for each, out in pairs if out))
    return min(costs)


def test_the_least_is_moved_and_that_is_proven() -> None:
    spilled = 0
    for seed in range(300):
        random = Random(seed)
        buffers = [together(random, number) for number in range(8)]
        problem = two_pools(buffers, random.randrange(10, 60))
        plan = solve(problem)
        assert isinstance(plan, MemoryPlan)
        assert plan.cost == plan.cost_bound == least_cost(problem), seed
        spilled += plan.cost > 0
    assert spilled > 200


@pytest.mark.parametrize(("uses", "home"), [(2, "slow"), (4, "fast")])
def test_what_is_used_more_often_stays(uses: int, home: str) -> None:
    buffers = [
        Buffer(name=name, size=8, alignment=1, live=((0, 1),), pools=("fast", "slow"), uses=count)
        for name, count in (("often", uses), ("seldom", 3))
    ]
    plan = solve(two_pools(buffers, 8))
    assert isinstance(plan, MemoryPlan)
    assert plan.placements["often"].pool == home
    assert plan.cost == 8 * min(uses, 3)


def test_a_crowd_beside_buffers_with_a_pool_of_their_own_is_refused_without_a_search() -> None:
    """All ten fit into both pools together; nine of them may not be in the roomy one."""
    crowd = [
        Buffer(name=f"b{number}", size=8, alignment=1, live=((0, 1),), pools=("fast",))
        for number in range(9)
    ]
    alone = Buffer(name="alone", size=8, alignment=1, live=((0, 1),), pools=("slow",))
    answer = solve(two_pools([alone, *crowd], 64), effort=Effort(nodes=0))
    assert isinstance(answer, Infeasible)
    assert answer.proven
    assert answer.buffers == tuple(buffer.name for buffer in crowd)
