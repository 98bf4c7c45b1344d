# SPDX-License-Identifier: Apache-2.0
"""Random problems: sound plans of every algorithm, and exact ones as good as brute force."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import pytest
from tests.effort import cases

from atoll.memory.algorithms import PLANNERS
from atoll.memory.checker import check, violations
from atoll.memory.effort import Effort
from atoll.memory.problem import (
    Answer,
    Buffer,
    Infeasible,
    MemoryPlan,
    Overlap,
    Placement,
    PoolSpace,
    PoolUse,
    Problem,
)
from atoll.memory.solve import solve
from atoll.utils.remember import forget

EFFORT = Effort(nodes=20_000)
SMALL = cases(150, least=30)


def rich_problem(rng: random.Random, count: int, unit: int = 1) -> Problem:
    """Make a problem of several pools, alignments, lives with breaks, and overlaps."""
    pools = tuple(_pool(rng, number, unit) for number in range(rng.randrange(1, 4)))
    buffers = tuple(_buffer(rng, f"b{n}", pools, unit) for n in range(count))
    names = [buffer.name for buffer in buffers]
    pairs = tuple(combinations(names, 2))
    return Problem(
        pools=pools,
        buffers=buffers,
        overlaps=tuple(
            Overlap(later=later, earlier=earlier, distance=rng.randrange(0, 3) * unit)
            for earlier, later in pairs
            if rng.random() < 0.1
        ),
    )


def _pool(rng: random.Random, number: int, unit: int) -> PoolSpace:
    size = rng.choice((rng.randrange(8, 30), 2_000)) * unit
    return PoolSpace(
        name=f"p{number}",
        origin=0x1000_0000 * (number + 1) + rng.choice((0, 0, 8, 24)),
        size=size,
        alignment=rng.choice((1, 1, 4)),
    )


def _buffer(rng: random.Random, name: str, pools: tuple[PoolSpace, ...], unit: int) -> Buffer:
    times = sorted(rng.sample(range(10), rng.choice((2, 2, 2, 4))))
    candidates = [pool.name for pool in rng.sample(pools, rng.randrange(1, len(pools) + 1))]
    return Buffer(
        name=name,
        size=rng.randrange(1, 5 * unit + 1),
        alignment=rng.choice((1, 1, 2, 4)),
        live=tuple(zip(times[::2], times[1::2], strict=True)),
        pools=tuple(candidates),
        uses=rng.randrange(1, 9),
    )


def assert_apart(plan: MemoryPlan) -> None:
    """Look at every byte in every step, unless some may overlap."""
    problem = plan.problem
    if problem.overlaps:
        return
    seen: set[tuple[str, int, int]] = set()
    for buffer in problem.buffers:
        place = plan.placements[buffer.name]
        bytes_ = range(place.offset, place.offset + buffer.size)
        steps = [step for begin, end in buffer.live for step in range(begin, end)]
        cells = {(place.pool, step, byte) for step in steps for byte in bytes_}
        assert not seen & cells
        seen |= cells


def assert_sound(seeds: range) -> None:
    names, planned = PLANNERS.names(), 0
    for seed in seeds:
        rng = random.Random(seed)
        problem = rich_problem(rng, rng.randrange(1, 14), rng.choice((1, 1, 8)))
        answer = solve(problem, name=names[seed % len(names)], effort=EFFORT)
        if isinstance(answer, Infeasible):
            assert set(answer.buffers) <= {buffer.name for buffer in problem.buffers}
            continue
        planned += 1
        check(answer)
        assert_apart(answer)
    assert planned > 0.5 * len(seeds)


def test_m3_plans_of_every_algorithm_are_sound() -> None:
    assert_sound(range(cases(3_000)))


@pytest.mark.slow
def test_m3_many_plans_of_every_algorithm_are_sound() -> None:
    assert_sound(range(3_000, 20_000))


def test_plans_do_not_depend_on_those_of_other_problems() -> None:
    """Greedy plans are at hand for pools of all sizes; what is found is the same without them."""
    for seed in range(cases(60, least=12)):
        drawn = random.Random(f"kept {seed}")
        problem = rich_problem(drawn, 10, 8)
        first, *others = problem.pools
        moved = tuple(replace(problem, pools=(each, *others)) for each in _changed_pools(first))
        larger = (replace(each, size=each.size + 8) for each in problem.buffers)
        apart, grown = replace(problem, overlaps=()), replace(problem, buffers=tuple(larger))
        problems = (problem, *moved, apart, grown)
        kept = [solve(each) for each in problems]
        for each, answer in zip(problems, kept, strict=True):
            forget()
            assert solve(each) == answer, seed


def _changed_pools(pool: PoolSpace) -> Iterator[PoolSpace]:
    yield from (replace(pool, size=pool.size + 8 * more) for more in (1, 3, 200))
    yield from (replace(pool, origin=pool.origin + more) for more in (1, 2, 4))
    yield from (replace(pool, alignment=each) for each in (2, 8))


Quality = tuple[int, int]


def quality(plan: MemoryPlan) -> Quality:
    """Return cost and bytes used."""
    return plan.cost, sum(use.used for use in plan.use.values())


def brute_force(problem: Problem) -> Quality | None:
    """Try every place of every buffer."""
    choices = [
        [
            Placement(buffer=buffer.name, pool=pool.name, offset=offset)
            for pool in problem.pools
            if pool.name in buffer.pools
            for offset in range(min(pool.size, 15) - buffer.size + 1)
        ]
        for buffer in problem.buffers
    ]
    best = None
    sizes = {buffer.name: buffer.size for buffer in problem.buffers}
    for choice in product(*choices):
        use = {}
        for pool in problem.pools:
            ends = [p.offset + sizes[p.buffer] for p in choice if p.pool == pool.name]
            use[pool.name] = PoolUse(size=pool.size, used=max(ends, default=0), peak=0, bound=0)
        costs = (b.cost(p.pool) for b, p in zip(problem.buffers, choice, strict=True))
        plan = MemoryPlan(
            problem=problem,
            placements={place.buffer: place for place in choice},
            use=use,
            cost=sum(costs),
        )
        if (best is None or quality(plan) < best) and not any(violations(plan)):
            best = quality(plan)
    return best


def tiny_problem(seed: int) -> Problem:
    rng = random.Random(seed)
    problem = rich_problem(rng, rng.randrange(1, 5 if seed % 2 else 4))
    pools = tuple(
        replace(pool, size=min(pool.size, rng.randrange(5, 12))) for pool in problem.pools
    )
    return replace(problem, pools=pools[:1] if len(problem.buffers) > 3 else pools[:2])


def exact(problem: Problem) -> Answer:
    return solve(problem, name="exact", effort=EFFORT)


def as_good_as_brute_force(seeds: range) -> int:
    """Return how many problems have a plan."""
    planned = 0
    for seed in seeds:
        problem = tiny_problem(seed)
        names = {pool.name for pool in problem.pools}
        if any(names.isdisjoint(buffer.pools) for buffer in problem.buffers):
            continue
        answer, best = exact(problem), brute_force(problem)
        if isinstance(answer, Infeasible):
            assert best is None, seed
            assert answer.proven, seed
            continue
        planned += 1
        assert best is not None, seed
        assert quality(answer)[0] == best[0], seed
        assert quality(answer)[1] >= best[1], seed
        if len(problem.pools) == 1:
            assert quality(answer) == best, seed
        if answer.optimal:
            assert all(use.used == use.bound for use in answer.use.values()), seed
    return planned


def test_exact_is_as_good_as_brute_force() -> None:
    assert as_good_as_brute_force(range(SMALL)) > SMALL // 3


def test_exact_is_no_worse_than_any_greedy_order() -> None:
    better = 0
    for seed in range(SMALL):
        problem = rich_problem(random.Random(seed), 10, 8)
        best = exact(problem)
        for name in ("greedy-by-size", "greedy-by-conflicts", "first-fit", "hill-climb"):
            other = solve(problem, name=name, effort=EFFORT)
            if isinstance(other, Infeasible):
                continue
            assert isinstance(best, MemoryPlan), (seed, name)
            assert quality(best)[0] <= quality(other)[0], (seed, name)
            if len(problem.pools) == 1:
                assert quality(best) <= quality(other), (seed, name)
            better += quality(best) < quality(other)
    assert better > SMALL // 5
