# SPDX-License-Identifier: Apache-2.0
"""Measured cycles of operators, beside those that were expected."""

import pytest
import yaml

from atoll.api.kits import FEWEST_FITTED, AcceleratorCalibration, OperatorTiming

EXPECTED = (10, 25, 70, 120, 300, 700, 1200, 3000)


def timing(*measured: int) -> OperatorTiming:
    pairs = tuple(zip(EXPECTED, measured, strict=False))
    return OperatorTiming(operator="CONV_2D", pairs=pairs)


def test_a_line_is_found_and_nothing_is_left() -> None:
    fit = timing(*(2 * each + 5 for each in EXPECTED)).fit
    assert fit
    assert fit.factor == pytest.approx(2)
    assert fit.offset == 5
    assert fit.median == pytest.approx(0)
    assert max(fit.rounded) <= 0.01


def test_operators_of_one_size_have_a_factor_only() -> None:
    pairs = tuple((10, each) for each in (20, 22, 20, 22, 20, 22, 20, 22))
    fit = OperatorTiming(operator="ADD", pairs=pairs).fit
    assert fit
    assert fit.factor == pytest.approx(2.1, abs=0.01)
    assert fit.offset == 0


def test_too_few_operators_have_no_fit() -> None:
    few = timing(*EXPECTED[: FEWEST_FITTED - 1])
    assert few.fit is None
    assert few.row()["factor_percent"] is None
    found = AcceleratorCalibration(accelerator="mine", timings=(few,), command="it")
    assert found.timing is None
    assert "nothing fitted" in found.text()


def test_two_sizes_have_no_line() -> None:
    """The line of two would give smaller operators no cycles at all."""
    pairs = tuple((size, 26 * size - 500_000) for size in (40_000, 60_000) for _ in range(4))
    found = OperatorTiming(operator="ADD", pairs=pairs)
    assert found.fit is None
    told = AcceleratorCalibration(accelerator="mine", timings=(found,), command="it")
    assert "not fitted: they differ in fewer than 3 sizes" in told.text()


def test_operators_that_do_not_follow_their_formula_have_no_fit() -> None:
    odd = timing(*reversed(EXPECTED))
    assert odd.fit is None
    found = AcceleratorCalibration(accelerator="mine", timings=(odd,), command="it")
    assert "not fitted: they do not follow the formula" in found.text()


def test_how_far_one_is_off_is_told_by_the_others() -> None:
    """The line of all passes nearer to an operator that lies apart than that of the others."""
    apart = [*EXPECTED[:-1], 2 * EXPECTED[-1]]
    fit = timing(*apart).fit
    assert fit
    assert fit.band[1] > apart[-1] / (fit.factor * EXPECTED[-1] + fit.offset) - 1
    assert fit.band[1] == pytest.approx(1, abs=0.1)


def test_what_was_fitted_is_written_as_it_is_read() -> None:
    few = OperatorTiming(operator="ADD", pairs=((10, 20),))
    found = AcceleratorCalibration(
        accelerator="mine",
        timings=(timing(*(2 * each + 5 for each in EXPECTED)), few),
        command="atoll accelerator calibrate mine.yaml: again",
    )
    read = yaml.safe_load(found.yaml())
    assert read == {"timing": found.timing}
    assert [*read["timing"]["operators"]] == ["CONV_2D"]
