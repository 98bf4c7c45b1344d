# SPDX-License-Identifier: Apache-2.0
"""A weighted sum is what an addition that rescales three times gives, for every pair of values."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from tests.effort import cases

from atoll.ops.elements.addition import ADD_LEFT_SHIFT
from atoll.ops.elements.weighted_sum import tabled_sum, weighted_sum
from atoll.ops.quantization import Integers, mbqm, quantize_multiplier

VALUES = np.arange(-128, 128, dtype=np.int64)
CASES = cases(200, least=40)

Scales = tuple[float, float, float]


def powers(random: Random) -> Scales:
    """Choose scales for which halves are common."""
    scale = 2.0 ** random.randint(-8, 0)
    return scale, scale * 2.0 ** random.randint(-2, 2), scale * 2.0 ** random.randint(-1, 3)


def alike(random: Random) -> Scales:
    """Choose two operands of one scale."""
    scale = 2.0 ** random.uniform(-8, 1)
    return scale, scale, scale * random.uniform(0.5, 2)


def usual(random: Random) -> Scales:
    """Choose scales as networks have them."""
    first = 2.0 ** random.uniform(-8, 0)
    second = first * random.uniform(0.2, 5)
    return first, second, max(first, second) * random.uniform(0.7, 2)


def rescaled(scales: Scales, zeros: tuple[int, int, int], limits: tuple[int, int]) -> Integers:
    """Add every pair as TFLite does."""
    *operands, result = scales
    twice_max = 2 * max(operands)
    terms = [
        mbqm((VALUES - zero) << ADD_LEFT_SHIFT, *quantize_multiplier(scale / twice_max))
        for scale, zero in zip(operands, zeros, strict=False)
    ]
    factor = quantize_multiplier(twice_max / ((1 << ADD_LEFT_SHIFT) * result))
    return np.clip(mbqm(np.add.outer(*terms), *factor) + zeros[2], *limits)


@pytest.mark.parametrize("kind", [powers, alike, usual])
def test_a_weighted_sum_equals_the_addition(kind: Callable[[Random], Scales]) -> None:
    """Nearly all scales have weights, which fit 32 bits as the loop program adds them."""
    random, found = Random(str(kind.__doc__)), 0
    for _ in range(CASES):
        scales = kind(random)
        zeros = random.randint(-128, 127), random.randint(-128, 127), random.randint(-128, 127)
        low, high = sorted(random.choices((-128, -128, zeros[2], 0, 127, 127), k=2))
        expected = rescaled(scales, zeros, (low, high))
        first, second = scales[0] / scales[2], scales[1] / scales[2]
        offset = zeros[2] - first * zeros[0] - second * zeros[1]
        weights = weighted_sum((first, second), offset, expected, (low, high))
        if weights is None:
            continue
        found += 1
        terms = (
            (VALUES * weights.first).astype(np.int32),
            (VALUES * weights.second).astype(np.int32),
        )
        total = np.add.outer(*terms) + np.int32(weights.start)
        assert total.dtype == np.int32
        assert np.array_equal(np.clip(total >> weights.places, low, high), expected), scales
    assert found >= 0.9 * CASES


def test_there_are_no_weights_for_what_is_no_sum() -> None:
    expected = np.multiply.outer(VALUES, VALUES) // 256
    assert weighted_sum((0.5, 0.5), 0.0, expected, (-128, 127)) is None


def test_there_are_no_weights_for_results_that_need_too_many_bits() -> None:
    expected = np.clip(np.add.outer(VALUES, VALUES) << 20, -128, 127)
    assert weighted_sum((2.0**20, 2.0**20), 0.0, expected, (-128, 127)) is None


@pytest.mark.parametrize("kind", [powers, alike, usual])
def test_a_sum_of_table_entries_equals_the_addition(kind: Callable[[Random], Scales]) -> None:
    """Scales of networks have tables, whether or not they have weights."""
    random, found = Random(f"tables {kind.__doc__}"), 0
    for _ in range(CASES):
        scales = kind(random)
        zeros = random.randint(-128, 127), random.randint(-128, 127), random.randint(-128, 127)
        low, high = sorted(random.choices((-128, -128, zeros[2], 0, 127, 127), k=2))
        expected = rescaled(scales, zeros, (low, high))
        *operands, result = scales
        twice_max = 2 * max(operands)
        first, second = (
            mbqm((VALUES - zero) << ADD_LEFT_SHIFT, *quantize_multiplier(scale / twice_max))
            for scale, zero in zip(operands, zeros, strict=False)
        )
        step = twice_max / ((1 << ADD_LEFT_SHIFT) * result)
        tables = tabled_sum((first, second), step, expected, (low, high))
        if tables is None:
            continue
        found += 1
        entries = np.array(tables.first, np.int32), np.array(tables.second, np.int32)
        total = np.add.outer(*entries)
        if tables.away is not None:
            total += (total >> 31) << np.int32(tables.away)
        total += np.int32(tables.start)
        assert total.dtype == np.int32
        assert np.array_equal(np.clip(total >> tables.places, low, high), expected), scales
    assert found >= 0.98 * CASES
