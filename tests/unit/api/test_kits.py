# SPDX-License-Identifier: Apache-2.0
"""Measured cycles of operators, beside those that were expected."""

import pytest

from atoll.api.kits import OperatorTiming


@pytest.mark.parametrize(
    ("pairs", "fit"),
    [
        (((10, 25), (20, 45), (30, 65)), (2.0, 5)),
        (((10, 20), (10, 22)), (2.1, 0)),
        (((10, 30),), (3.0, 0)),
    ],
)
def test_a_line_is_fitted_where_there_are_different_sizes(
    pairs: tuple[tuple[int, int], ...], fit: tuple[float, int]
) -> None:
    assert OperatorTiming(operator="conv_2d", pairs=pairs).fit == pytest.approx(fit)
