"""The checker on pins, reserved ranges, banks, conflict lists and relations between buffers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from atoll.errors import PlanError
from atoll.memory.checker import check
from atoll.memory.problem import (
    Buffer,
    MemoryPlan,
    Overlap,
    Pin,
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
    pools = problem.pop("pools", [PoolSpace(name="s", origin=0, size=100, alignment=1)])
    if len(pools) == 1:
        pools = [*pools, PoolSpace(name="d", origin=0x1000, size=100, alignment=1)]
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


def test_aliases_share_one_place_and_nothing_else() -> None:
    buffers = [buffer("a"), buffer("b"), buffer("c")]
    groups = {"aliases": (("a", "b"),)}
    check(plan(buffers, {"a": 0, "b": 0, "c": 10}, **groups))
    assert "aliases are not at one place" in faults(
        plan(buffers, {"a": 0, "b": 20, "c": 10}, **groups)
    )
    assert "E063" in faults(plan(buffers, {"a": 0, "b": 0, "c": 9}, **groups))


def test_exclusive_buffers_never_conflict() -> None:
    buffers = [buffer(name) for name in "abc"]
    check(plan(buffers, {"a": 0, "b": 5, "c": 15}, exclusive=(("a", "b"),)))
    assert "'b' in pool 's' at 0x00000005..0x0000000e and 'c'" in faults(
        plan(buffers, {"a": 0, "b": 5, "c": 12}, exclusive=(("a", "b"),))
    )


def test_buffers_that_have_to_be_apart_are_in_different_pools() -> None:
    buffers = [buffer("a"), buffer("b")]
    check(plan(buffers, {"a": 0, "b": ("d", 0)}, apart=(("a", "b"),)))
    assert "'a' and 'b' are both in pool 's'" in faults(
        plan(buffers, {"a": 0, "b": 10}, apart=(("a", "b"),))
    )


def test_a_list_of_conflicts_replaces_the_lifetimes() -> None:
    buffers = [replace(buffer(name), live=()) for name in "abc"]
    conflicts = frozenset({("a", "b"), ("b", "a"), ("c", "b")})
    check(plan(buffers, {"a": 0, "b": 10, "c": 0}, conflicts=conflicts))
    text = faults(plan(buffers, {"a": 0, "b": 9, "c": 20}, conflicts=conflicts))
    assert text.count("two buffers share bytes although they conflict: 'a'") == 1


@pytest.mark.parametrize(
    ("pin", "wanted"),
    [
        (Pin(pool="d"), "is pinned to pool 'd'"),
        (Pin(offset=3), "is pinned to any pool at offset 3"),
        (Pin(pool="d", offset=0), "is pinned to pool 'd' at offset 0"),
    ],
)
def test_a_pin_holds(pin: Pin, wanted: str) -> None:
    assert wanted in faults(plan([buffer("a", pin=pin)], {"a": 2}))
    place = pin.pool or "s", pin.offset or 0
    check(plan([buffer("a", pin=pin)], {"a": place}))


@pytest.mark.parametrize("offset", [11, 19, 15, 20, 29])
def test_reserved_ranges_are_kept_free(offset: int) -> None:
    pool = PoolSpace(name="s", origin=0, size=100, alignment=1, reserved=((20, 30), (40, 41)))
    assert "touches offsets 20..29, reserved" in faults(
        plan([buffer("a")], {"a": offset}, pools=[pool])
    )
    check(plan([buffer("a"), buffer("b")], {"a": 10, "b": 30}, pools=[pool]))


def test_no_buffer_crosses_a_border_between_banks() -> None:
    pool = PoolSpace(name="s", origin=8, size=100, alignment=1, bank=32)
    assert "crosses a border between banks of 32 bytes" in faults(
        plan([buffer("a")], {"a": 23}, pools=[pool])
    )
    check(plan([buffer("a"), buffer("b")], {"a": 22, "b": 32}, pools=[pool]))


def test_a_wrong_cost_is_refused() -> None:
    costly = [buffer("a", costs=(1, 5)), buffer("b", costs=(2, 0))]
    right = replace(plan(costly, {"a": ("d", 0), "b": 0}), cost=7, cost_bound=3)
    check(right)
    assert not right.optimal
    assert "the plan costs 7, not 6 with a lower bound of 3" in faults(replace(right, cost=6))
    assert "not 7 with a lower bound of 8" in faults(replace(right, cost_bound=8))


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
        ({"aliases": (("a", "b"), ("b", "a"))}, "in two groups of aliases"),
        ({"conflicts": frozenset({("a", "z")})}, "relates 'z', which is none"),
    ],
)
def test_relations_that_make_no_sense_are_named(changes: dict[str, Any], expected: str) -> None:
    whole = plan([buffer("a"), buffer("b")], {"a": 0, "b": 10})
    assert expected in faults(replace(whole, problem=replace(whole.problem, **changes)))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"alignment": 12}, "an alignment of 12, no power of two"),
        ({"costs": (1,)}, "not one cost of 0 or more for each candidate pool"),
        ({"costs": (1, -1)}, "not one cost of 0 or more for each candidate pool"),
        ({"pools": ("s", "s")}, "names a candidate pool twice"),
        ({"pin": Pin(pool="x")}, "pinned to where it cannot be"),
        ({"pin": Pin(offset=-4)}, "pinned to where it cannot be"),
    ],
)
def test_buffers_that_make_no_sense_are_named(changes: dict[str, Any], expected: str) -> None:
    assert expected in faults(plan([buffer("a", **changes)], {"a": 0}))


@pytest.mark.parametrize(
    "changes", [{"alignment": 3}, {"bank": -1}, {"reserved": ((4, 4),)}, {"reserved": ((-1, 4),)}]
)
def test_pools_that_make_no_sense_are_named(changes: dict[str, Any]) -> None:
    pool = PoolSpace(name="s", origin=0, size=100, alignment=1)
    whole = plan([buffer("a")], {"a": 96}, pools=[replace(pool, **changes)])
    assert "pool 's' has " in faults(whole)
