# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of sweeps compute of their results."""

from math import prod

from benchmarks.sweep_fronts import SPACE, SUBSPACE, hypervolume, reference_of
from benchmarks.sweep_rtl import AXES, POINTS, errors
from hypothesis import given
from hypothesis import strategies as st

COORDINATES = st.integers(0, 8)
POINTS_OF_A_PLANE = st.lists(st.tuples(COORDINATES, COORDINATES), max_size=6)


@given(POINTS_OF_A_PLANE, st.tuples(COORDINATES, COORDINATES))
def test_a_hypervolume_is_the_number_of_unit_squares_that_points_beat(
    points: list[tuple[int, int]], reference: tuple[int, int]
) -> None:
    squares = {
        (right, up)
        for first, second in points
        for right in range(first, reference[0])
        for up in range(second, reference[1])
    }
    assert hypervolume(points, reference) == len(squares)


def test_a_reference_point_is_beyond_both_ends() -> None:
    assert reference_of([(10, 300), (20, 200), (110, 100)]) == (120, 320)


def test_the_subspace_is_one() -> None:
    assert list(SPACE) == list(SUBSPACE)
    assert all(set(SUBSPACE[axis]) <= set(values) for axis, values in SPACE.items())
    assert prod(map(len, SPACE.values())) >= 1e6
    assert 15_000 < prod(map(len, SUBSPACE.values())) < 25_000


def test_all_points_run_in_rtl() -> None:
    values = [each["settings"] if isinstance(each, dict) else each for each in AXES.values()]
    assert prod(map(len, values)) == POINTS


def test_errors_are_shares_of_what_rtl_took() -> None:
    assert errors([{"cycles": 125, "rtl.cycles": 100}, {"cycles": 90, "rtl.cycles": 120}]) == [
        25,
        -25,
    ]
