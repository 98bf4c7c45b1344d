# SPDX-License-Identifier: Apache-2.0
"""Numbers, none below 0, with which rows of a table come nearest to what was measured."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

NEAR = 0.01
"""Weighted error below which all are as good."""


def least_errors(table: Vector, wanted: Vector, weights: Vector) -> Vector:
    """Return the numbers with which the sum of absolute errors is least, each times its weight.

    That is least squares again and again, weighted by the errors of the last ones.
    """
    again = np.ones(len(wanted))
    for _ in range(10):
        each = weights * np.sqrt(again)
        found = least_squares(table * each[:, None], wanted * each)
        again = 1 / np.maximum(np.abs(table @ found - wanted) * weights, NEAR)
    return found


def least_squares(table: Vector, wanted: Vector) -> Vector:
    """Return the numbers with which the sum of squared errors is least.

    They are those of the method of Lawson and Hanson (Solving Least Squares Problems, 1974, 23).
    """
    scale = np.linalg.norm(table, axis=0)
    scale[scale == 0] = 1
    table = table / scale
    found, kept = np.zeros(table.shape[1]), np.zeros(table.shape[1], bool)
    for _ in range(10 * table.shape[1]):
        gain = table.T @ (wanted - table @ found)
        gain[kept] = -np.inf
        if gain.max(initial=-np.inf) <= 1e-9:
            break
        kept[int(gain.argmax())] = True
        while True:
            best = np.zeros_like(found)
            best[kept] = np.linalg.lstsq(table[:, kept], wanted, rcond=None)[0]
            low = kept & (best <= 0)
            if not low.any():
                break
            step = (found[low] / (found[low] - best[low])).min()
            found = found + step * (best - found)
            kept &= found > 1e-12
            found[~kept] = 0
        found = best
    answer: Vector = found / scale
    return answer
