# SPDX-License-Identifier: Apache-2.0
"""Points of a space: each has one number, and searches draw what they say."""

from collections import Counter
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atoll_sweep.space import choice_of, draw, number_of

LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@given(LENGTHS, st.data())
def test_numbers_and_choices_are_each_others_inverse(
    lengths: list[int], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, prod(lengths) - 1))
    choice = choice_of(number, lengths)
    assert all(0 <= one < length for one, length in zip(choice, lengths, strict=True))
    assert number_of(choice, lengths) == number


def test_the_last_axis_counts_fastest() -> None:
    assert [choice_of(number, [2, 3]) for number in range(6)] == [
        *((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2))
    ]


@given(LENGTHS, st.sampled_from(["grid", "random", "latin_hypercube"]), st.integers(0, 9))
def test_what_is_drawn_is_sorted_and_once(lengths: list[int], method: str, seed: int) -> None:
    points = min(5, prod(lengths))
    drawn = draw(method, points, lengths, seed)
    assert drawn == sorted(set(drawn)) == draw(method, points, lengths, seed)
    assert all(0 <= point < prod(lengths) for point in drawn)
    if method != "latin_hypercube":
        assert len(drawn) == (prod(lengths) if method == "grid" else points)


@pytest.mark.parametrize("points", [8, 24, 100])
def test_a_latin_hypercube_has_every_value_as_often_as_any_other(points: int) -> None:
    lengths = [8, 100, 4096]
    drawn = [choice_of(point, lengths) for point in draw("latin_hypercube", points, lengths, 3)]
    assert len(drawn) == points, "in so large a space none coincide"
    for axis, length in enumerate(lengths):
        counts = Counter(choice[axis] for choice in drawn)
        assert max(counts.values()) - min(counts.values()) <= 1
        assert len(counts) == min(points, length)


def test_random_points_of_a_huge_space_take_no_memory_for_it() -> None:
    assert len(draw("random", 100, [4096] * 5, 1)) == 100


def test_other_seeds_draw_other_points() -> None:
    assert draw("random", 5, [100, 100], 1) != draw("random", 5, [100, 100], 2)
