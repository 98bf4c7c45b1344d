# SPDX-License-Identifier: Apache-2.0
"""The checker accepts a correct plan and names each planted error."""

from dataclasses import replace
from typing import Any

import pytest

from atoll.diagnostics.errors import PlanError
from atoll.memory.checker import check
from atoll.memory.problem import Buffer, MemoryPlan, Placement, PoolSpace, PoolUse, Problem

PROBLEM = Problem(
    pools=(
        PoolSpace(name="sram", origin=0x2000_0000, size=64, alignment=8),
        PoolSpace(name="dtcm", origin=0x1000_0000, size=64, alignment=8),
    ),
    buffers=(
        Buffer(name="a", size=16, alignment=16, live=((0, 2),), pools=("sram",)),
        Buffer(name="b", size=20, alignment=8, live=((1, 3), (5, 6)), pools=("sram", "dtcm")),
        Buffer(name="c", size=48, alignment=8, live=((3, 5),), pools=("sram",)),
    ),
)


def plan(**changes: Placement | None) -> MemoryPlan:
    """Make the correct plan, with the placements of some buffers changed or left out."""
    placed = {
        "a": Placement(buffer="a", pool="sram", offset=0),
        "b": Placement(buffer="b", pool="sram", offset=16),
        "c": Placement(buffer="c", pool="sram", offset=0),
    } | changes
    placements = {name: each for name, each in placed.items() if each is not None}
    cost = 20 if "b" in placements and placements["b"].pool == "dtcm" else 0
    return MemoryPlan(problem=PROBLEM, placements=placements, use=use(placements), cost=cost)


def use(placements: dict[str, Placement]) -> dict[str, PoolUse]:
    sizes = {buffer.name: buffer.size for buffer in PROBLEM.buffers}
    used = {pool.name: 0 for pool in PROBLEM.pools}
    for name, each in placements.items():
        if each.pool in used:
            used[each.pool] = max(used[each.pool], each.offset + sizes.get(name, 0))
    return {
        name: PoolUse(size=64, used=end, peak=min(36, end), bound=min(48, end))
        for name, end in used.items()
    }


def faults(broken: MemoryPlan) -> str:
    with pytest.raises(PlanError) as caught:
        check(broken)
    return str(caught.value)


def at(buffer: str, offset: int, pool: str = "sram") -> Placement:
    return Placement(buffer=buffer, pool=pool, offset=offset)


def test_m3_a_correct_plan_is_accepted() -> None:
    check(plan())
    check(plan(b=at("b", 0, "dtcm")))


@pytest.mark.parametrize("offset", [8, 0])
def test_m3_overlap_names_both_buffers_the_pool_and_the_addresses(offset: int) -> None:
    begin = 0x2000_0000 + offset
    assert faults(plan(b=at("b", offset))) == (
        "error[E063]: two buffers share bytes at step 1, where both are live: "
        "'a' in pool 'sram' at 0x20000000..0x2000000f and "
        f"'b' in pool 'sram' at {begin:#010x}..{begin + 19:#010x}"
    )


@pytest.mark.parametrize("past", [0, 1])
def test_m3_a_buffer_ends_with_its_pool_and_not_a_byte_later(past: int) -> None:
    pool = PoolSpace(name="sram", origin=0x2000_0000, size=64, alignment=1)
    buffer = Buffer(name="a", size=33 + past, alignment=1, live=((0, 1),), pools=("sram",))
    whole = MemoryPlan(
        problem=Problem(pools=(pool,), buffers=(buffer,)),
        placements={"a": at("a", 31)},
        use={"sram": PoolUse(size=64, used=64 + past, peak=33 + past, bound=33 + past)},
    )
    if not past:
        check(whole)
        return
    assert faults(whole) == (
        "error[E064]: buffer 'a' in pool 'sram' at 0x2000001f with 34 bytes leaves its pool, "
        "which spans 0x20000000..0x2000003f"
    )


def test_an_overlap_from_below_is_found_too() -> None:
    assert "0x20000010..0x2000001f and 'b' in pool 'sram' at 0x20000000..0x20000013" in faults(
        plan(a=at("a", 16), b=at("b", 0))
    )


def test_a_buffer_inside_another_is_an_overlap() -> None:
    outer = Buffer(name="a", size=60, alignment=1, live=((0, 4),), pools=("sram",))
    inner = [replace(outer, name=f"i{n}", size=4, live=((n, n + 2),)) for n in range(3)]
    spots = {"a": at("a", 0)} | {f"i{n}": at(f"i{n}", 8 * (n + 1)) for n in range(3)}
    problem = replace(PROBLEM, buffers=(outer, *inner))
    whole = replace(plan(), problem=problem, placements=spots)
    text = faults(
        replace(whole, use={**use({}), "sram": PoolUse(size=64, used=60, peak=0, bound=0)})
    )
    assert text.count("E063") == 3


def test_the_second_interval_of_a_buffer_counts() -> None:
    late = replace(PROBLEM.buffers[0], live=((5, 6),))
    problem = replace(PROBLEM, buffers=(late, *PROBLEM.buffers[1:]))
    check(replace(plan(), problem=problem))
    text = faults(replace(plan(b=at("b", 8)), problem=problem))
    assert "at step 5" in text


def test_overlapping_pools_are_an_overlap() -> None:
    pools = (PROBLEM.pools[0], replace(PROBLEM.pools[1], origin=0x2000_0000))
    shadowed = replace(plan(b=at("b", 0, "dtcm")), problem=replace(PROBLEM, pools=pools))
    assert "'b' in pool 'dtcm' at 0x20000000" in faults(shadowed)


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (plan(b=None), "buffer 'b' is not placed"),
        (plan(x=at("x", 0)), "'x' is placed, but is no buffer of the problem"),
        (plan(b=at("a", 16)), "buffer 'b' has the placement of 'a'"),
        (plan(a=at("a", 0, "dtcm")), "buffer 'a' is in pool 'dtcm', but may only be in 'sram'"),
        (plan(a=at("a", 0, "rom")), "buffer 'a' is in pool 'rom', but may only be in 'sram'"),
        (plan(b=at("b", 20)), "breaks the alignment of 8 bytes of the pool"),
        (plan(a=at("a", 40)), "breaks the alignment of 16 bytes of the buffer"),
        (
            plan(b=at("b", 48)),
            "buffer 'b' in pool 'sram' at 0x20000030 with 20 bytes leaves its pool, "
            "which spans 0x20000000..0x2000003f",
        ),
        (plan(b=at("b", -8)), "leaves its pool"),
    ],
)
def test_m3_a_misplaced_buffer_is_named(broken: MemoryPlan, expected: str) -> None:
    text = faults(broken)
    assert expected in text
    assert "E064" in text


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"size": 0}, "has no bytes"),
        ({"live": ()}, "is live in no step"),
        ({"live": ((2, 2),)}, "empty, unsorted or adjoining"),
        ({"live": ((3, 4), (0, 1))}, "empty, unsorted or adjoining"),
    ],
)
def test_a_buffer_that_makes_no_sense_is_named(changes: dict[str, Any], expected: str) -> None:
    first = replace(PROBLEM.buffers[0], **changes)
    problem = replace(PROBLEM, buffers=(first, *PROBLEM.buffers[1:]))
    text = faults(replace(plan(), problem=problem))
    assert "buffer 'a' has " in text
    assert expected in text


def test_two_buffers_of_one_name_are_refused() -> None:
    problem = replace(PROBLEM, buffers=(*PROBLEM.buffers, PROBLEM.buffers[0]))
    assert "two buffers of the problem have one name" in faults(replace(plan(), problem=problem))


@pytest.mark.parametrize(
    ("use_of_sram", "expected"),
    [
        (PoolUse(size=65, used=48, peak=36, bound=48), "has 64 bytes and 48 used, not 65 and 48"),
        (PoolUse(size=64, used=40, peak=36, bound=40), "has 64 bytes and 48 used, not 64 and 40"),
        (PoolUse(size=64, used=48, peak=36, bound=49), "cannot have a peak of 36"),
        (PoolUse(size=64, used=48, peak=49, bound=48), "cannot have a peak of 49"),
    ],
)
def test_wrong_figures_are_refused(use_of_sram: PoolUse, expected: str) -> None:
    assert expected in faults(replace(plan(), use={**plan().use, "sram": use_of_sram}))


def test_missing_figures_are_refused() -> None:
    assert "does not say what it uses of pool 'sram'" in faults(replace(plan(), use={}))
