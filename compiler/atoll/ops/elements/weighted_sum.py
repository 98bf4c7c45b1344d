# SPDX-License-Identifier: Apache-2.0
"""Sums of two int8 operands that round as an addition does: one shift, no rescaling.

Of products with weights, or of entries of two tables.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from atoll.ops.quantization import Integers
from atoll.records import dataclass

_MOST_PLACES, _LEAST_PLACES, _REACH = 24, 8, 6
_INT8 = 128
_INT8_VALUES = np.arange(-_INT8, _INT8, dtype=np.int64)
_PAIRS = (np.repeat(_INT8_VALUES, 2 * _INT8), np.tile(_INT8_VALUES, 2 * _INT8))
_TIGHTEST = 256
_STEPS = product(range(-_REACH, _REACH + 1), repeat=2)
_AROUND = sorted(_STEPS, key=lambda pair: max(map(abs, pair)))[1:]
"""Small steps in two directions, the smallest first."""


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """``(first * a + second * b + start) >> places``, to be clamped, is the sum of a and b.

    Attributes:
        first: weight of the first operand.
        second: weight of the second operand.
        start: what is added: zero points and rounding are in it.
        places: bits that are dropped.
    """

    first: int
    second: int
    start: int
    places: int

    @property
    def shifts(self) -> bool:
        """Whether shifts take the place of multiplications."""
        return self.first.bit_count() == self.second.bit_count() == 1


@dataclass(frozen=True, slots=True)
class TabledSum:
    """``(total + away + start) >> places``, to be clamped, is the sum of a and b.

    ``total`` is ``first[a] + second[b]``. What TFLite rounds away from zero, at a half, is below
    zero by a little more than above: ``away`` is 0, or ``-1 << away`` where the total is negative.

    Attributes:
        first: by the first operand, of -128 first.
        second: by the second operand.
        start: what is added: the zero point and rounding are in it.
        away: see above, None where it is not needed.
        places: bits that are dropped.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    start: int
    away: int | None
    places: int


def tabled_sum(
    terms: tuple[Integers, Integers], scale: float, expected: Integers, limits: tuple[int, int]
) -> TabledSum | None:
    """Return tables that give `expected` for every pair of int8 values, if they need 32 bits.

    Terms are whole numbers: a few bits more than they have tell their sums apart.

    Args:
        terms: int64 [256] by each operand, of -128 first.
        scale: steps of the result for a step of a term.
        expected: as of `weighted_sum`.
        limits: as of `weighted_sum`.
    """
    furthest = scale * sum(float(np.abs(term).max()) for term in terms) + _INT8
    places = min(_MOST_PLACES, 31 - ceil(log2(furthest)))
    if places < _LEAST_PLACES:
        return None
    first, second = (np.rint(term * (scale * 2.0**places)).astype(np.int64) for term in terms)
    totals = np.add.outer(first, second)
    for away in (None, *range(_REACH + 1)):
        moved = totals if away is None else totals + ((totals >> 31) << away)
        start = _start(moved, places, expected, limits)
        if start is not None:
            return TabledSum(tuple(first.tolist()), tuple(second.tolist()), start, away, places)
    return None


def weighted_sum(
    scales: tuple[float, float], offset: float, expected: Integers, limits: tuple[int, int]
) -> WeightedSum | None:
    """Return weights that give `expected` for every pair of int8 values, if there are such.

    An addition rounds three times, so that no weights are right by construction. Each pair is
    tried: with weights near the true ones, some start suits all pairs, or none does. The sum
    needs no more than 32 bits, however far products go beyond.

    Args:
        scales: steps of the result for a step of each operand.
        offset: the result, unrounded, where both operands are 0.
        expected: int64 [256, 256], the result for each pair, of -128 first.
        limits: least and greatest result.
    """
    furthest = abs(offset) + 128 * sum(map(abs, scales)) + 2
    places = min(_MOST_PLACES, 31 - ceil(log2(furthest)))
    if places < _LEAST_PLACES:
        return None
    near = tuple(round(scale * 2.0**places) for scale in scales)
    for first, second in _likely(near, places, expected, limits):
        start = _start(_sums(first, second), places, expected, limits)
        if start is not None:
            return WeightedSum(first, second, start, places)
    return None


def _likely(
    near: Sequence[int], places: int, expected: Integers, limits: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield weights near the true ones, the nearest first, but for those that surely fail."""
    yield near[0], near[1]
    tight = _tightest(_sums(*near), places, expected, limits)
    left, right, results = (values[tight] for values in (*_PAIRS, expected.ravel()))
    for steps in _AROUND:
        first, second = (weight + step for weight, step in zip(near, steps, strict=True))
        least, most = _starts(first * left + second * right, places, results, limits)
        if least <= most:
            yield first, second


def _sums(first: int, second: int) -> Integers:
    return np.add.outer(first * _INT8_VALUES, second * _INT8_VALUES)


def _tightest(
    sums: Integers, places: int, expected: Integers, limits: tuple[int, int]
) -> NDArray[np.intp]:
    """Return the pairs that leave a start the least room: others rule hardly any weights out."""
    above = np.where(expected > limits[0], (expected << places) - sums, -(2**62))
    below = np.where(expected < limits[1], ((expected + 1) << places) - sums, 2**62)
    least_room = (np.argpartition(room.ravel(), _TIGHTEST)[:_TIGHTEST] for room in (-above, below))
    return np.concatenate(list(least_room))


def _start(sums: Integers, places: int, expected: Integers, limits: tuple[int, int]) -> int | None:
    """Return what makes the results expected of `sums` before `places` are dropped."""
    least, most = _starts(sums, places, expected, limits)
    start = (least + most) // 2
    return start if least <= most and np.abs(sums + start).max() < 2**31 else None


def _starts(
    sums: Integers, places: int, expected: Integers, limits: tuple[int, int]
) -> tuple[int, int]:
    """Return the least and the greatest start that suit all `sums`; none does if they cross."""
    low, high = expected <= limits[0], expected >= limits[1]
    least = ((expected << places) - sums)[~low].max(initial=-(2**31))
    most = (((expected + 1) << places) - 1 - sums)[~high].min(initial=2**31 - 1)
    return int(least), int(most)
