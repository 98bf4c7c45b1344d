"""Blocks that leave no gap between them are joined, and come apart again in the plan."""

from random import Random

from atoll.memory.blocks import make_blocks
from atoll.memory.checker import check
from atoll.memory.jigsaw import join
from atoll.memory.packing import Packing
from atoll.memory.problem import Buffer, MemoryPlan, PoolSpace, Problem
from atoll.memory.solve import solve
from atoll.memory.strip import Strip, strip_of
from atoll_sim.random_cuts import random_cuts

HEIGHT = 1 << 20


def strip(problem: Problem) -> Strip:
    whole = make_blocks(problem)
    found = strip_of(Packing(whole, problem.pools[0], tuple(range(len(whole.blocks)))))
    assert found is not None
    return found


def problem_of(shapes: tuple[tuple[int, int, int], ...]) -> Problem:
    return Problem(
        pools=(PoolSpace(name="s", origin=0, size=1 << 10, alignment=1),),
        buffers=tuple(
            Buffer(name=f"b{n}", size=size, alignment=1, live=((begin, end),), pools=("s",))
            for n, (begin, end, size) in enumerate(shapes)
        ),
    )


def lives(found: Strip) -> list[tuple[int, int, int]]:
    return list(zip(found.begin, found.end, found.size, strict=True))


def assert_apart(shapes: tuple[tuple[int, int, int], ...], offsets: dict[int, int]) -> None:
    for one, (begin, end, size) in enumerate(shapes):
        for other, (first, beyond, _) in enumerate(shapes[:one]):
            if begin < beyond and first < end:
                low, high = sorted((one, other), key=lambda each: offsets[each])
                assert offsets[low] + shapes[low][2] <= offsets[high], (low, high, size)


def test_blocks_of_one_size_one_after_the_other_are_one() -> None:
    found = join(strip(problem_of(((0, 2, 8), (2, 3, 8), (3, 7, 8)))))
    assert (found.begin, found.size) == ((0,), (8,))
    assert found.offsets((5,)) == {0: 5, 1: 5, 2: 5}


def test_blocks_of_other_sizes_or_with_a_gap_of_time_are_not_joined() -> None:
    for shapes in (((0, 2, 8), (2, 3, 9)), ((0, 2, 8), (3, 4, 8))):
        assert len(join(strip(problem_of(shapes))).groups) == 2


def test_what_was_joined_is_joined_again() -> None:
    shapes = (0, 2, 8), (2, 4, 8), (0, 4, 5), (4, 5, 13)
    found = join(strip(problem_of(shapes)))
    assert lives(found) == [(0, 3, 13)]
    assert_apart(shapes, dict(found.offsets((0,))))


def test_cuts_in_two_are_joined_to_what_was_cut() -> None:
    found = join(strip(random_cuts(400, HEIGHT, 0.0, Random(1))))
    assert lives(found) == [(0, found.moments - 1, HEIGHT)]
    assert len(found.groups[0]) in range(396, 405)


def test_m4_four_thousand_buffers_are_planned_and_the_plan_is_right() -> None:
    problem = random_cuts(4_000, HEIGHT, 0.5, Random(5), slack=0.05)
    plan = solve(problem)
    assert isinstance(plan, MemoryPlan)
    check(plan)
    assert plan.use["s"].used <= 1.05 * HEIGHT
