"""A weighted sum of two int8 operands that rounds as an addition does: one shift, no rescaling."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil, log2

import numpy as np

from atoll.ops.quantization import Integers

_MOST_PLACES, _LEAST_PLACES, _REACH = 24, 8, 6


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
    values = np.arange(-128, 128, dtype=np.int64)
    furthest = abs(offset) + 128 * sum(scales) + 2
    places = min(_MOST_PLACES, 31 - ceil(log2(furthest)))
    if places < _LEAST_PLACES:
        return None
    low, high = expected <= limits[0], expected >= limits[1]
    for steps in _around():
        first, second = (
            round(scale * 2.0**places) + step for scale, step in zip(scales, steps, strict=True)
        )
        sums = np.add.outer(first * values, second * values)
        least = ((expected << places) - sums)[~low].max(initial=-(2**31))
        most = (((expected + 1) << places) - 1 - sums)[~high].min(initial=2**31 - 1)
        start = int(least + most) // 2
        if least <= most and np.abs(sums + start).max() < 2**31:
            return WeightedSum(first, second, start, places)
    return None


def _around() -> Iterator[tuple[int, int]]:
    """Yield small steps in two directions, the smallest first."""
    steps = range(-_REACH, _REACH + 1)
    yield from sorted(product(steps, steps), key=lambda pair: max(map(abs, pair)))
