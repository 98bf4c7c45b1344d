# SPDX-License-Identifier: Apache-2.0
"""Runs of bytes as reef's port and array take them."""

import pytest

from atoll_sim.engines.reef.runs import Run, average, beginnings, inside, run


@pytest.mark.parametrize(
    ("size", "offset", "lanes", "beats", "steps"),
    [
        (8, 0, 8, 1, 1),
        (8, 1, 8, 2, 2),  # the first beat brings no whole chunk
        (9, 0, 8, 2, 2),
        (9, 1, 8, 2, 3),  # the second chunk is there one cycle after the last beat
        (9, 0, 4, 2, 3),
        (9, 5, 4, 2, 4),
        (3, 5, 8, 1, 1),
        (3, 6, 8, 2, 2),
        (48, 0, 8, 6, 6),
        (16, 0, 16, 2, 2),
    ],
)
def test_a_run_takes_beats_and_steps(
    size: int, offset: int, lanes: int, beats: int, steps: int
) -> None:
    assert run(size, offset, 8, lanes) == Run(beats, steps)


def test_runs_begin_where_their_step_brings_them() -> None:
    assert [*beginnings(24, 8)] == [0]
    assert [*beginnings(6, 8)] == [0, 2, 4, 6]
    assert [*beginnings(6, 8, first=3)] == [1, 3, 5, 7]
    assert [*beginnings(1, 4)] == [0, 1, 2, 3]


def test_the_average_is_over_all_of_them() -> None:
    """One of 9 bytes at 0 takes two beats and steps, at any other place a step more."""
    assert average(9, beginnings(1, 8), 8) == Run(2, 2 + 7 / 8)
    assert average(8, beginnings(4, 8), 8) == Run(1.5, 1.5)


def test_only_what_is_inside_of_the_image_counts() -> None:
    assert inside(3, 3, 1, 1, 3) == [range(2), range(3), range(1, 3)]
    assert inside(2, 3, 2, 0, 4) == [range(3), range(2, 4)]
    assert inside(2, 2, 2, 2, 2) == [range(0), range(2)]
