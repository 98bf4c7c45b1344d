# SPDX-License-Identifier: Apache-2.0
"""Random problems: every plan passes the checker and keeps within its bounds."""

import random
from collections.abc import Iterator

from tests.effort import cases

from atoll.diagnostics.errors import PlanError
from atoll.memory.assignment import Assignment
from atoll.memory.checker import check
from atoll.memory.conflicts import conflict_graph
from atoll.memory.problem import Buffer, MemoryPlan, PoolSpace, Problem
from atoll.memory.solve import plan_memory


def random_problem(rng: random.Random) -> Problem:
    """One to three pools, one to fourteen buffers; some problems are too tight to solve."""
    pools = tuple(
        PoolSpace(
            name=f"p{number}",
            origin=0x1000_0000 * (number + 1) + rng.choice((0, 0, 8, 24)),
            size=rng.choice((rng.randrange(64, 400), 10_000)),
            alignment=rng.choice((1, 4, 16)),
        )
        for number in range(rng.randrange(1, 4))
    )
    buffers = tuple(random_buffer(rng, f"b{n}", pools) for n in range(rng.randrange(1, 15)))
    return Problem(pools=pools, buffers=buffers)


def random_buffer(rng: random.Random, name: str, pools: tuple[PoolSpace, ...]) -> Buffer:
    times = sorted(rng.sample(range(12), rng.choice((2, 2, 2, 4))))
    candidates = rng.sample(pools, rng.randrange(1, len(pools) + 1))
    return Buffer(
        name=name,
        size=rng.randrange(1, 60),
        alignment=rng.choice((1, 1, 2, 8, 32)),
        live=tuple(zip(times[::2], times[1::2], strict=True)),
        pools=tuple(pool.name for pool in candidates),
    )


def plans(seeds: range) -> Iterator[MemoryPlan | PlanError]:
    for seed in seeds:
        try:
            yield plan_memory(random_problem(random.Random(seed)))
        except PlanError as fault:
            yield fault


def assert_sound(seeds: range) -> None:
    solved = tight = 0
    for result in plans(seeds):
        if isinstance(result, PlanError):
            assert {fault.code for fault in result.faults} <= {"E061", "E062"}
            continue
        solved += 1
        check(result)
        assert_conflicts_apart(result)
        assert_within_bounds(result)
        tight += uses_the_least(result)
    assert solved > 0.8 * len(seeds)
    assert tight > 0.1 * len(seeds)


def assert_conflicts_apart(plan: MemoryPlan) -> None:
    """Compare every pair of buffers, step by step: slower than the checker, and simpler."""
    bytes_at: dict[tuple[str, int], set[int]] = {}
    for buffer in plan.problem.buffers:
        placement = plan.placements[buffer.name]
        span = set(range(placement.offset, placement.offset + buffer.size))
        for begin, end in buffer.live:
            for step in range(begin, end):
                busy = bytes_at.setdefault((placement.pool, step), set())
                assert not busy & span
                busy |= span


def assert_within_bounds(plan: MemoryPlan) -> None:
    for pool in plan.problem.pools:
        use = plan.use[pool.name]
        sizes = [
            buffer.size + max(buffer.alignment, pool.alignment) - 1
            for buffer in plan.problem.buffers
            if plan.placements[buffer.name].pool == pool.name
        ]
        slack = pool.alignment + 31  # an origin that is not aligned costs once
        assert use.peak <= use.bound <= use.used <= min(pool.size, sum(sizes) + slack)


def uses_the_least(plan: MemoryPlan) -> bool:
    """Tell whether a plan uses what some pool surely needs; none uses less."""
    assignment = Assignment(conflict_graph(plan.problem))
    pairs = [(plan.use[name].used, assignment.least(name)) for name in plan.use]
    assert all(used >= least for used, least in pairs)
    return any(used == least > 0 for used, least in pairs)


def test_m3_plans_are_sound() -> None:
    assert_sound(range(cases(1_500)))
