# SPDX-License-Identifier: Apache-2.0
"""Means of windows on reef equal TFLite's division, for all sums and all windows it may take."""

import numpy as np
import pytest
from numpy.typing import NDArray

from atoll.ops.quantization import mbqm
from atoll_sim.engines.reef.means import MOST_TAPS, scale_of_mean


def rounded(sums: NDArray[np.int64], taps: int) -> NDArray[np.int64]:
    """Divide, halves away from zero."""
    quotients: NDArray[np.int64] = np.sign(sums) * ((np.abs(sums) + taps // 2) // taps)
    return quotients


@pytest.mark.parametrize("taps", [1, 2, 3, 7, 64, 125, 1024, 2047, MOST_TAPS - 1, MOST_TAPS])
def test_all_sums(taps: int) -> None:
    sums = np.arange(-128 * taps, 127 * taps + 1)
    assert np.array_equal(mbqm(sums, *scale_of_mean(taps)), rounded(sums, taps))


def test_sums_beside_halves_of_every_window() -> None:
    """Nearest to the middle between two means the multiplier errs first."""
    for taps in range(1, MOST_TAPS + 1):
        halves = (np.arange(-256, 255) * taps) // 2
        sums = np.concatenate([halves - 1, halves, halves + 1])
        sums = sums[(sums >= -128 * taps) & (sums <= 127 * taps)]
        assert np.array_equal(mbqm(sums, *scale_of_mean(taps)), rounded(sums, taps)), taps


def test_a_window_that_is_too_large_is_inexact() -> None:
    taps = 40_000
    sums = np.arange(-128 * taps, -128 * taps + 2 * taps)
    assert not np.array_equal(mbqm(sums, *scale_of_mean(taps)), rounded(sums, taps))
