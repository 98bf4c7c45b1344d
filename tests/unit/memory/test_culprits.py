"""Which buffers are named where there is no plan: too many, and not one of them too many."""

import random
from itertools import pairwise

import pytest

from atoll.errors import PlanError
from atoll.memory.problem import Buffer, Infeasible, MemoryPlan, Overlap, Pin, PoolSpace, Problem
from atoll.memory.solve import plan_memory, solve

POOL = PoolSpace(name="s", origin=0, size=10, alignment=1)


def buffer(name: str, size: int, live: tuple[int, int], offset: int | None = None) -> Buffer:
    pin = None if offset is None else Pin(offset=offset)
    return Buffer(name=name, size=size, alignment=1, live=(live,), pools=("s",), pin=pin)


def named(*buffers: Buffer, aliases: tuple[tuple[str, ...], ...] = ()) -> tuple[str, ...]:
    answer = solve(Problem(pools=(POOL,), buffers=buffers, aliases=aliases))
    assert isinstance(answer, Infeasible)
    assert answer.proven
    return answer.buffers


def test_m5_only_buffers_that_are_to_blame_are_named() -> None:
    crowd = [buffer(f"x{number}", 1, (3, 6)) for number in range(10)]
    assert named(*crowd, buffer("wide", 5, (0, 2)), buffer("pinned", 2, (1, 3), 4)) == (
        "wide",
        "pinned",
    )


def test_m5_aliases_are_to_blame_together() -> None:
    middle = buffer("one", 2, (0, 1), 4), buffer("two", 2, (1, 3))
    wide, idle = buffer("wide", 5, (1, 2)), buffer("idle", 3, (0, 3))
    assert named(*middle, wide, idle, aliases=(("one", "two"),)) == ("one", "two", "wide")


def test_m5_the_message_lists_those_to_blame_if_no_crowd_is() -> None:
    crowd = [buffer(f"x{number}", 1, (6, 8)) for number in range(10)]
    pinned = buffer("early", 3, (0, 2), 4), buffer("late", 3, (3, 5), 3)
    between = buffer("between", 4, (1, 4))
    with pytest.raises(PlanError) as caught:
        plan_memory(Problem(pools=(POOL,), buffers=(*crowd, *pinned, between)))
    assert "11 B needed, 10 B available, 1 B missing; at step 6 10 B are live" in str(caught.value)
    assert (
        "'x7' 1 B and 2 more; these have no plan even without the others: "
        "'between' 4 B, 'early' 3 B, 'late' 3 B\n"
    ) in str(caught.value)


def random_problem(rng: random.Random) -> Problem:
    """Make a problem that is too large, with pins and results over operands now and then."""
    buffers = []
    for number in range(rng.randrange(4, 12)):
        begin, end = sorted(rng.sample(range(8), 2))
        offset = rng.randrange(6) if rng.random() < 0.2 else None
        buffers.append(buffer(f"b{number}", rng.randrange(1, 6), (begin, end), offset))
    overlaps = tuple(
        Overlap(later=later.name, earlier=earlier.name, distance=rng.randrange(3))
        for earlier, later in pairwise(buffers)
        if rng.random() < 0.2
    )
    return Problem(pools=(POOL,), buffers=tuple(buffers), overlaps=overlaps)


def part(problem: Problem, names: set[str]) -> Problem:
    return Problem(
        pools=problem.pools,
        buffers=tuple(each for each in problem.buffers if each.name in names),
        overlaps=tuple(each for each in problem.overlaps if {each.later, each.earlier} <= names),
    )


def test_m5_without_any_of_those_to_blame_there_is_a_plan() -> None:
    looked_at = 0
    for seed in range(300):
        problem = random_problem(random.Random(seed))
        answer = solve(problem)
        if isinstance(answer, MemoryPlan):
            continue
        looked_at += 1
        names = set(answer.buffers)
        assert answer.proven, seed
        assert isinstance(solve(part(problem, names)), Infeasible), seed
        for name in names if len(names) > 1 else ():
            assert isinstance(solve(part(problem, names - {name})), MemoryPlan), (seed, name)
    assert looked_at > 50
