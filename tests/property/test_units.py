# SPDX-License-Identifier: Apache-2.0
import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atoll.diagnostics.units import format_size, parse_duration, parse_frequency, parse_size

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@given(st.integers(min_value=0, max_value=2**63))
def test_what_is_written_reads_back(size: int) -> None:
    assert parse_size(format_size(size)) == size


@given(st.integers(min_value=0, max_value=2**40), st.sampled_from(sorted(UNITS)))
def test_sizes_are_exact(count: int, unit: str) -> None:
    assert parse_size(f"{count} {unit}") == parse_size(f"{count}{unit}") == count * UNITS[unit]


@given(st.integers(min_value=1, max_value=2**40))
def test_the_largest_exact_unit_is_written(size: int) -> None:
    count, unit = format_size(size).split()
    assert int(count) * UNITS[unit] == size
    larger = [scale for scale in UNITS.values() if scale > UNITS[unit]]
    assert all(size % scale for scale in larger)


def test_durations_are_seconds() -> None:
    assert [parse_duration(text) for text in ("10s", "1.5 s", "20 ms", "2min")] == [
        *(10, 1.5, 0.02, 120),
    ]


def test_fractions_are_exact_or_refused() -> None:
    assert parse_size("1.5 KiB") == 1536
    assert parse_frequency("33.333333 MHz") == 33_333_333
    with pytest.raises(ValueError, match="not a whole number of B"):
        parse_size("0.3 KiB")


@given(st.text(max_size=20), st.sampled_from([parse_size, parse_frequency]))
def test_other_text_is_refused_or_a_whole_number(text: str, parse: Callable[[str], int]) -> None:
    with contextlib.suppress(ValueError):
        assert parse(text) >= 0
