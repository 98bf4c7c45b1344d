# SPDX-License-Identifier: Apache-2.0
"""Bands of sums and comparisons of figures within them."""

import pytest

from atoll.cost.bands import Band, Source, could_be_less, joint_band, pessimistic
from atoll.cost.basis import weakest, with_band

ONE, OTHER = Source("one", "measured", Band(0.3, 0.6)), Source("two", "measured", Band(0.4, 0.8))
UNKNOWN = Source("three", "picorv32", None)


def test_bands_of_a_sum_add() -> None:
    assert joint_band({ONE: 100}) == ONE.band
    band = joint_band({ONE: 100, OTHER: 100})
    assert band
    assert (band.low, band.high) == pytest.approx((0.35, 0.7))


@pytest.mark.parametrize("parts", [{}, {UNKNOWN: 1}, {ONE: 1_000_000, UNKNOWN: 1}])
def test_an_unknown_band_is_not_zero(parts: dict[Source, int]) -> None:
    assert joint_band(parts) is None
    assert "band not known" in with_band("5 cycles", "measured", joint_band(parts))


def test_what_both_take_of_one_source_decides_nothing() -> None:
    assert not could_be_less({ONE: 120}, {ONE: 100})
    assert could_be_less({OTHER: 120}, {ONE: 100})
    assert not could_be_less({OTHER: 300}, {ONE: 100})
    assert not could_be_less({UNKNOWN: 120}, {ONE: 100})


def test_the_most_is_the_high_end_and_what_nobody_knows_is_more() -> None:
    assert pessimistic(100, {ONE: 100}) == (False, 160)
    assert pessimistic(101, {ONE: 100, UNKNOWN: 1}) == (True, 161)
    assert pessimistic(10_000, {ONE: 10_000}) < pessimistic(1, {UNKNOWN: 1})


@pytest.mark.parametrize(
    ("basis", "rank"),
    [
        ("measured", "measured"),
        ("counted x measured", "counted"),
        ("counted x published, driver counted x published", "published"),
        ("vela, driver picorv32", "stand-in"),
        ("formula, assumed", "assumed"),
    ],
)
def test_a_total_carries_the_weakest_basis(basis: str, rank: str) -> None:
    assert weakest(basis) == rank
