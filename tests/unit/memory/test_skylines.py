"""Many buffers are packed close to their bound, in a time that grows tamely."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from time import process_time

import pytest

from atoll.memory.blocks import make_blocks
from atoll.memory.effort import Effort, Meter
from atoll.memory.jigsaw import join
from atoll.memory.packing import Packing
from atoll.memory.problem import Buffer, MemoryPlan, Pin, PoolSpace, Problem
from atoll.memory.skyline import Found, pack_strip
from atoll.memory.skyline_engines import CompiledSkylines, InterpretedSkylines
from atoll.memory.skyline_plans import Skylines
from atoll.memory.solve import solve
from atoll.memory.strip import Strip, strip_of
from atoll_sim.random_cuts import random_cuts

HEIGHT = 1 << 20
SLACK = 1.05


def strip(problem: Problem) -> Strip | None:
    whole = make_blocks(problem)
    return strip_of(Packing(whole, problem.pools[0], tuple(range(len(whole.blocks)))))


def small(*, alignment: int = 1, origin: int = 0) -> Problem:
    """Four buffers, two of which live together."""
    lives = ((0, 4), (4, 9), (0, 4), (2, 7))
    return Problem(
        pools=(PoolSpace(name="s", origin=origin, size=1 << 10, alignment=1),),
        buffers=tuple(
            Buffer(name=f"b{n}", size=10 + n, alignment=alignment, live=(life,), pools=("s",))
            for n, life in enumerate(lives)
        ),
    )


def changed(problem: Problem, **changes: object) -> Problem:
    """Change the first buffer."""
    first, *others = problem.buffers
    return replace(problem, buffers=(replace(first, **changes), *others))  # type: ignore[arg-type]


def packed(kernel: Skylines, count: int, nodes: int) -> Found | None:
    problem = strip(random_cuts(count, HEIGHT, 0.5, Random(7)))
    assert problem is not None
    return pack_strip(problem, Meter(Effort(nodes=nodes)), kernel, HEIGHT)


def test_a_pool_of_lifetimes_and_sizes_is_a_strip() -> None:
    found = strip(small())
    assert found is not None
    assert found.groups == (((0, 0),), ((2, 0),), ((3, 0),), ((1, 0),))
    assert found.size == (10, 12, 13, 11)
    assert (found.begin, found.end) == ((0, 0, 1, 2), (2, 2, 3, 4))
    assert found.offsets((0, 10, 22, 0)) == {0: 0, 2: 10, 3: 22, 1: 0}


def test_a_rectangle_leaves_room_for_alignment() -> None:
    found = strip(small(alignment=16, origin=8))
    assert found is not None
    assert found.base == 8
    assert found.size == (16, 16, 16, 16)
    assert found.offsets((0, 16, 32, 0)) == {0: 8, 2: 24, 3: 40, 1: 8}


@pytest.mark.parametrize(
    "problem",
    [
        changed(small(), live=((0, 1), (3, 4))),
        changed(small(), alignment=16),
        changed(small(), pin=Pin(pool="s", offset=64)),
        replace(small(), conflicts=frozenset({("b0", "b3")})),
        replace(small(), pools=(replace(small().pools[0], reserved=((100, 200),)),)),
        replace(small(), pools=(replace(small().pools[0], bank=256),)),
    ],
    ids=["break", "alignments", "pin", "conflicts", "reserved", "bank"],
)
def test_more_than_lifetimes_and_sizes_is_no_strip(problem: Problem) -> None:
    assert strip(problem) is None


def test_compiled_and_interpreted_kernels_find_the_same_plan() -> None:
    compiled = packed(CompiledSkylines(), 25, 60)
    assert compiled is not None
    assert compiled == packed(InterpretedSkylines(), 25, 60)


def test_nothing_comes_of_too_few_nodes() -> None:
    assert packed(CompiledSkylines(), 60, 20) is None


def test_m4_random_cuts_come_out_at_their_bound_after_few_nodes() -> None:
    for count, nodes in ((100, 1_000), (1_000, 6_000)):
        found = packed(CompiledSkylines(), count, nodes)
        assert found is not None
        assert found.top == HEIGHT


def fits(count: int, pinwheels: float, seed: int, seconds: float) -> None:
    """Assert that a plan with 5 % of slack is found in some processor time."""
    problem = random_cuts(count, HEIGHT, pinwheels, Random(seed), slack=SLACK - 1)
    begin = process_time()
    answer = solve(problem)
    assert process_time() - begin <= seconds
    assert isinstance(answer, MemoryPlan)
    assert answer.use["s"].used <= SLACK * HEIGHT
    assert answer.optimal == (answer.use["s"].used == HEIGHT)


@pytest.mark.parametrize("pinwheels", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("count", "seconds"), [(100, 1), (400, 5), (1_000, 5)])
def test_m4_plans_of_random_cuts_are_within_five_percent(
    count: int, seconds: float, pinwheels: float
) -> None:
    CompiledSkylines()
    fits(count, pinwheels, 1, seconds)


@pytest.mark.slow
@pytest.mark.parametrize("pinwheels", [0.0, 0.5, 1.0])
def test_m4_ten_thousand_buffers_are_within_five_percent(pinwheels: float) -> None:
    CompiledSkylines()
    fits(10_000, pinwheels, 0, 60)


def in_coarse_steps(problem: Problem, steps: int) -> Problem:
    """Let all lifetimes begin and end at one of a few steps; empty ones are left out."""
    buffers = []
    for buffer in problem.buffers:
        begin, end = (moment * steps >> 20 for moment in buffer.live[0])
        if begin < end:
            buffers.append(replace(buffer, live=((begin, end),)))
    return replace(problem, buffers=tuple(buffers))


@pytest.mark.parametrize("seed", range(3))
def test_m4_buffers_that_share_lifetimes_by_chance_need_not_be_neighbours(seed: int) -> None:
    cuts = random_cuts(400, HEIGHT, 0.5, Random(seed), slack=SLACK - 1)
    problem = in_coarse_steps(cuts, 1_000)
    assert len({buffer.live for buffer in problem.buffers}) < 0.98 * len(problem.buffers)
    answer = solve(problem)
    assert isinstance(answer, MemoryPlan)
    assert answer.use["s"].used <= SLACK * HEIGHT


def pieces(shapes: Sequence[tuple[int, int, int]]) -> Strip:
    """Return rectangles of (begin, end, size) as a strip."""
    begin, end, size = zip(*sorted(shapes), strict=True)
    groups = tuple(((n, 0),) for n in range(len(shapes)))
    return Strip(base=0, groups=groups, begin=begin, end=end, size=size, moments=10)


PINWHEEL = ((0, 7, 2), (7, 9, 5), (4, 9, 3), (0, 4, 6), (4, 7, 3))


@pytest.mark.parametrize("mirrored", [False, True])
def test_pinwheels_are_joined(mirrored: bool) -> None:
    shapes = [(9 - e, 9 - b, s) for b, e, s in PINWHEEL] if mirrored else PINWHEEL
    given = pieces([*shapes, (2, 3, 1)])
    joined = join(given)
    assert sorted(zip(joined.begin, joined.end, joined.size, strict=True)) == [(0, 9, 8), (2, 3, 1)]
    covered = [
        (moment, byte)
        for member, ground in joined.groups[0]
        for moment in range(given.begin[member], given.end[member])
        for byte in range(ground, ground + given.size[member])
    ]
    assert len(covered) == len(set(covered)) == 9 * 8
    assert set(covered) == {(moment, byte) for moment in range(9) for byte in range(8)}


@pytest.mark.parametrize("number", range(len(PINWHEEL)))
def test_what_is_no_pinwheel_is_left_apart(number: int) -> None:
    begin, end, size = PINWHEEL[number]
    others = [*PINWHEEL[:number], *PINWHEEL[number + 1 :]]
    assert len(join(pieces([*others, (begin, end, size + 1)])).groups) == 5
    assert len(join(pieces([*others, (begin + 1, end, size)])).groups) == 5


def shortened(problem: Problem, random: Random, *, shrunk: int = 0) -> Problem:
    """Let lifetimes begin later and end earlier, and shrink sizes by one part of `shrunk`."""
    buffers = []
    for buffer in problem.buffers:
        ((begin, end),) = buffer.live
        shorter = (end - begin) // 20
        life = begin + random.randint(0, shorter), end - random.randint(0, shorter)
        size = buffer.size - (buffer.size // shrunk if shrunk else 0)
        buffers.append(replace(buffer, live=(life,), size=size))
    return replace(problem, buffers=tuple(buffers))


def test_m4_lifetimes_without_common_ends_are_packed_below_a_greedy_order() -> None:
    random = Random(3)
    problem = shortened(random_cuts(400, HEIGHT, 0.5, random, slack=1.0), random, shrunk=30)
    plan = solve(problem, effort=Effort(nodes=40_000))
    greedy = solve(problem, name="greedy-by-size")
    assert isinstance(plan, MemoryPlan)
    assert isinstance(greedy, MemoryPlan)
    assert plan.use["s"].used < 0.95 * greedy.use["s"].used
    assert not plan.optimal


def test_m4_a_part_that_is_hard_leaves_effort_for_the_others() -> None:
    problem = shortened(random_cuts(400, HEIGHT, 0.0, Random(0), slack=1.0), Random(99))
    plan = solve(problem)
    assert isinstance(plan, MemoryPlan)
    assert plan.use["s"].used < 1.1 * plan.use["s"].bound
