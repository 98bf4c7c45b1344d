# SPDX-License-Identifier: Apache-2.0
"""The checker on overlaps, costs, and problems that make no sense."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from atoll.diagnostics.errors import PlanError
from atoll.memory.checker import check
from atoll.memory.problem import (
    Buffer,
    MemoryPlan,
    Overlap,
    Placement,
    PoolSpace,
    PoolUse,
    Problem,
)


def buffer(name: str, size: int = 10, live: tuple[int, int] = (0, 2), **more: Any) -> Buffer:
    options: dict[str, Any] = {"alignment": 1, "pools": ("s", "d")} | more
    return Buffer(name=name, size=size, live=(live,), **options)


def plan(
    buffers: list[Buffer], offsets: Mapping[str, int | tuple[str, int]], **problem: Any
) -> MemoryPlan:
    """Put each buffer at an offset of pool `s`, or of the pool that is given."""
    pools = [
        PoolSpace(name="s", origin=0, size=100, alignment=1),
        PoolSpace(name="d", origin=0x1000, size=100, alignment=1),
    ]
    placements = {
        name: Placement(
            buffer=name,
            pool=place[0] if isinstance(place, tuple) else "s",
            offset=place[1] if isinstance(place, tuple) else place,
        )
        for name, place in offsets.items()
    }
    sizes = {each.name: each.size for each in buffers}
    use = {}
    for pool in pools:
        ends = [p.offset + sizes[p.buffer] for p in placements.values() if p.pool == pool.name]
        use[pool.name] = PoolUse(size=pool.size, used=max(ends, default=0), peak=0, bound=0)
    whole = Problem(pools=tuple(pools), buffers=tuple(buffers), **problem)
    return MemoryPlan(problem=whole, placements=placements, use=use)


def faults(broken: MemoryPlan) -> str:
    with pytest.raises(PlanError) as caught:
        check(broken)
    return str(caught.value)


TWO = [buffer("later", 10), buffer("earlier", 20)]
GROWS = (Overlap(later="later", earlier="earlier", distance=4),)


@pytest.mark.parametrize(("later", "earlier"), [(0, 4), (0, 5), (3, 50), (20, 0), (0, 10)])
def test_an_output_may_grow_over_its_input_from_far_enough_below(later: int, earlier: int) -> None:
    check(plan(TWO, {"later": later, "earlier": earlier}, overlaps=GROWS))


@pytest.mark.parametrize(("later", "earlier"), [(0, 3), (0, 0), (1, 0), (19, 0)])
def test_m3_an_output_too_close_to_its_input_is_refused(later: int, earlier: int) -> None:
    placed = {"later": later, "earlier": earlier}
    assert "E063" in faults(plan(TWO, placed, overlaps=GROWS))


def test_m3_without_the_relation_the_same_place_is_refused() -> None:
    assert "E063" in faults(plan(TWO, {"later": 0, "earlier": 5}))


def test_a_third_buffer_under_an_overlapping_pair_is_found() -> None:
    three = [*TWO, buffer("third", 2)]
    for offset in range(1, 24):
        placed = {"later": 0, "earlier": 4, "third": offset}
        assert "'third'" in faults(plan(three, placed, overlaps=GROWS)), offset
    check(plan(three, {"later": 0, "earlier": 4, "third": 24}, overlaps=GROWS))


def test_a_later_step_sees_the_whole_output_after_the_input_died() -> None:
    buffers = [buffer("later", 10, (1, 4)), buffer("earlier", 20, (0, 2)), buffer("x", 4, (2, 4))]
    placed = {"later": 0, "earlier": 4, "x": 9}
    assert "at step 2" in faults(plan(buffers, placed, overlaps=GROWS))
    check(plan(buffers, {**placed, "x": 10}, overlaps=GROWS))


def test_a_wrong_cost_is_refused() -> None:
    costly = [buffer("a", 4, uses=5), buffer("b", uses=2)]
    right = replace(plan(costly, {"a": ("d", 0), "b": 0}), cost=20, cost_bound=3)
    check(right)
    assert not right.optimal
    assert "the plan costs 20, not 6 with a lower bound of 3" in faults(replace(right, cost=6))
    assert "not 20 with a lower bound of 21" in faults(replace(right, cost_bound=21))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"overlaps": (Overlap(later="a", earlier="x", distance=0),)},
            "relates 'x', which is none",
        ),
        ({"overlaps": (Overlap(later="a", earlier="b", distance=-1),)}, "by less than 0"),
        (
            {
                "overlaps": (
                    Overlap(later="a", earlier="b", distance=0),
                    Overlap(later="b", earlier="a", distance=0),
                )
            },
            "circular",
        ),
    ],
)
def test_relations_that_make_no_sense_are_named(changes: dict[str, Any], expected: str) -> None:
    whole = plan([buffer("a"), buffer("b")], {"a": 0, "b": 10})
    assert expected in faults(replace(whole, problem=replace(whole.problem, **changes)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"alignment": 12}, "an alignment of 12, no power of two"),
        ({"uses": 0}, "is used 0 times"),
        ({"pools": ("s", "s")}, "names a candidate pool twice"),
    ],
)
def test_buffers_that_make_no_sense_are_named(changes: dict[str, Any], expected: str) -> None:
    assert expected in faults(plan([buffer("a", **changes)], {"a": 0}))


@pytest.mark.parametrize("changes", [{"alignment": 3}, {"size": -1}])
def test_pools_that_make_no_sense_are_named(changes: dict[str, Any]) -> None:
    whole = plan([buffer("a")], {"a": 96})
    pools = tuple(replace(pool, **changes) for pool in whole.problem.pools)
    text = faults(replace(whole, problem=replace(whole.problem, pools=pools)))
    assert "pool 's' has an impossible alignment or size" in text
