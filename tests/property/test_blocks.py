# SPDX-License-Identifier: Apache-2.0
"""Planning blocks of constants as one gives plans that are as good, on random problems."""

import random
from dataclasses import replace

import pytest
from tests.effort import cases

from atoll.memory import resident_block
from atoll.memory.auto import plan_auto
from atoll.memory.checker import check
from atoll.memory.effort import Effort, Meter, ignore_progress
from atoll.memory.problem import Buffer, MemoryPlan, PoolSpace, Problem
from atoll.memory.resident_block import blocks_of

STEPS = 8


def problem_of(seed: int) -> Problem:
    """Make one or two pools of constants, and of activations that may be between them."""
    rng = random.Random(seed)
    pools = tuple(
        PoolSpace(
            name=f"p{number}",
            origin=0x1000 * (number + 1) + rng.choice((0, 0, 16)),
            size=rng.choice((400, 700, 4000)),
            alignment=rng.choice((1, 4, 16)),
        )
        for number in range(rng.choice((1, 2)))
    )
    buffers = []
    for number in range(rng.randrange(4, 14)):
        constant = rng.random() < 0.7
        begin = 0 if constant else rng.randrange(STEPS)
        end = STEPS if constant else rng.randrange(begin + 1, STEPS + 1)
        alignment = rng.choice((16, 16, 16, 64, 4))
        size = rng.choice((alignment, 64, 128, 17, 40, 96, rng.randrange(1, 100)))
        homes = [pool.name for pool in pools]
        homes = homes if rng.random() < 0.2 else [rng.choice(homes)]
        buffers.append(
            Buffer(
                name=f"b{number}",
                size=size,
                alignment=alignment,
                live=((begin, end),),
                pools=tuple(homes),
                uses=rng.randrange(1, 4),
            )
        )
    return Problem(pools=pools, buffers=tuple(buffers))


def planned(problem: Problem) -> MemoryPlan | None:
    answer = plan_auto(problem, Meter(Effort(nodes=20_000), ignore_progress))
    if not isinstance(answer, MemoryPlan):
        return None
    check(answer)
    return answer


def test_blocks_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    used = 0
    for seed in range(cases(600)):
        problem = problem_of(seed)
        monkeypatch.setattr(resident_block, "LEAST", 1000)
        alone = planned(problem)
        monkeypatch.setattr(resident_block, "LEAST", 2)
        together = planned(problem)
        used += bool(blocks_of(problem).blocks)
        assert (alone is None) == (together is None), seed
        if alone is None or together is None or not (alone.optimal and together.optimal):
            continue
        assert together.problem == alone.problem
        assert (together.cost, together.cost_bound) == (alone.cost, alone.cost_bound), seed
        assert together.use == alone.use, seed
    assert used > cases(600) // 6


def test_no_block_where_gaps_could_be_filled() -> None:
    """A buffer of 64-byte alignment and 80 bytes leaves a gap in which constants fit."""
    pool = PoolSpace(name="p", origin=0x1000, size=100_000, alignment=16)
    small = Buffer(name="", size=48, alignment=16, live=((0, 4),), pools=("p",))
    many = tuple(replace(small, name=f"c{n}") for n in range(resident_block.LEAST))
    strict = replace(small, name="s", size=128, alignment=64)
    assert blocks_of(Problem(pools=(pool,), buffers=many)).blocks
    assert blocks_of(Problem(pools=(pool,), buffers=(*many, strict))).blocks
    gap = replace(strict, size=80)
    assert not blocks_of(Problem(pools=(pool,), buffers=(*many, gap))).blocks
    between = replace(strict, live=((1, 2),))
    assert not blocks_of(Problem(pools=(pool,), buffers=(*many, between))).blocks
    odd = replace(pool, origin=0x1010)
    assert not blocks_of(Problem(pools=(odd,), buffers=(*many, strict))).blocks
    assert not blocks_of(Problem(pools=(pool,), buffers=many[1:])).blocks


def test_a_block_that_does_not_fit_is_refused_by_its_members() -> None:
    pool = PoolSpace(name="p", origin=0x1000, size=48 * resident_block.LEAST - 1, alignment=16)
    small = Buffer(name="", size=48, alignment=16, live=((0, 4),), pools=("p",))
    many = tuple(replace(small, name=f"c{n}") for n in range(resident_block.LEAST))
    answer = plan_auto(Problem(pools=(pool,), buffers=many), Meter(Effort(), ignore_progress))
    assert not isinstance(answer, MemoryPlan)
    assert answer.proven
    assert set(answer.buffers) <= {buffer.name for buffer in many}
