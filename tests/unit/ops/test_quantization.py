# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

from atoll.ir.graph import Operator, Quantization, Tensor
from atoll.ops.quantization import (
    INT32_MAX,
    INT32_MIN,
    activation_range,
    mbqm,
    mbqm_once,
    mbqm_wide_once,
    multipliers,
    quantize_multiplier,
    rdbp,
    srdhm,
)

EDGES = [
    INT32_MIN,
    INT32_MIN + 1,
    -(2**30),
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    2**30,
    INT32_MAX - 1,
    INT32_MAX,
]


def slow_srdhm(a: int, b: int) -> int:
    """Follow the definition in whole numbers."""
    product = a * b
    nudged = Fraction(product + (2**30 if product >= 0 else 1 - 2**30), 2**31)
    return min(floor(nudged) if nudged >= 0 else ceil(nudged), INT32_MAX)


def slow_rdbp(x: int, exponent: int) -> int:
    """Round half away from zero."""
    magnitude = floor(Fraction(abs(x), 2**exponent) + Fraction(1, 2))
    return magnitude if x >= 0 else -magnitude


@pytest.mark.parametrize("a", EDGES)
def test_srdhm_at_the_edges(a: int) -> None:
    assert srdhm(a, EDGES).tolist() == [slow_srdhm(a, b) for b in EDGES]


def test_srdhm_saturates_only_once() -> None:
    assert int(srdhm(INT32_MIN, INT32_MIN)) == INT32_MAX


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 30, 31])
def test_rdbp_at_the_edges(exponent: int) -> None:
    assert rdbp(EDGES, exponent).tolist() == [slow_rdbp(x, exponent) for x in EDGES]


def test_fixed_point_on_random_values() -> None:
    rng = np.random.default_rng(0)
    values, multipliers = rng.integers(INT32_MIN, 2**31, (2, 2000))
    assert srdhm(values, multipliers).tolist() == [
        slow_srdhm(a, b) for a, b in zip(values.tolist(), multipliers.tolist(), strict=True)
    ]
    shifts = rng.integers(0, 32, 2000)
    assert rdbp(values, shifts).tolist() == [
        slow_rdbp(x, e) for x, e in zip(values.tolist(), shifts.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("x", "multiplier", "shift", "expected"),
    [
        (5, 2**30, 0, 3),
        (-5, 2**30, 0, -2),
        (7, 2**30, -1, 2),
        (100, 2**30, 3, 400),
        (2**30, 2**30, 1, -(2**30)),
    ],
)
def test_mbqm(x: int, multiplier: int, shift: int, expected: int) -> None:
    assert int(mbqm(x, multiplier, shift)) == expected


def test_mbqm_rounds_twice() -> None:
    """1 * 5/8 / 2 is 0.3125, which one rounding would make 0."""
    assert int(mbqm(1, 5 * 2**28, -1)) == 1


def test_mbqm_once_is_the_exact_product_rounded_halves_up() -> None:
    rng = np.random.default_rng(1)
    shifts = np.concatenate([np.arange(-31, 31), rng.integers(-31, 31, 4000)])
    most = 2.0 ** (31 - np.maximum(shifts, 0) - rng.integers(0, 31, shifts.size))
    values = np.trunc(rng.uniform(-1, 1, shifts.size) * np.maximum(most - 1, 0)).astype(np.int64)
    factors = rng.choice([0, 2**30, 3 * 2**29, 2**31 - 1], shifts.size)
    factors = np.where(
        rng.random(shifts.size) < 0.5, factors, rng.integers(2**30, 2**31, shifts.size)
    )
    exact = [
        floor(Fraction(x * m, 2 ** (31 - s)) + Fraction(1, 2))
        for x, m, s in zip(values.tolist(), factors.tolist(), shifts.tolist(), strict=True)
    ]
    assert mbqm_once(values, factors, shifts).tolist() == exact


@pytest.mark.parametrize("shift", [0, 1, 7, 30])
def test_what_is_shifted_left_is_rounded_once_by_mbqm_too(shift: int) -> None:
    rng = np.random.default_rng(shift)
    values, factors = rng.integers(INT32_MIN, 2**31, 2000), rng.integers(0, 2**31, 2000)
    assert (mbqm_once(values, factors, shift) == mbqm(values, factors, shift)).all()


def test_sums_of_64_bits_are_scaled_exactly() -> None:
    rng = np.random.default_rng(2)
    shifts = rng.integers(-31, 8, 4000)
    values = rng.integers(-(2**46), 2**46, 4000) >> rng.integers(0, 46, 4000)
    values = np.where(shifts > 0, values >> 16, values)  # results fit 32 bits
    factors = rng.integers(2**30, 2**31, 4000)
    exact = [
        floor(Fraction(x * m, 2 ** (31 - s)) + Fraction(1, 2))
        for x, m, s in zip(values.tolist(), factors.tolist(), shifts.tolist(), strict=True)
    ]
    fits = np.abs(np.array(exact, object)) < 2**31
    assert fits.sum() > 3000
    made = mbqm_wide_once(values, factors, shifts)
    assert made[fits.astype(bool)].tolist() == np.array(exact, object)[fits.astype(bool)].tolist()


def test_mbqm_once_rounds_once() -> None:
    """1 * 5/8 / 2 is 0.3125, which `mbqm` makes 1."""
    assert int(mbqm_once(1, 5 * 2**28, -1)) == 0


@pytest.mark.parametrize(
    ("real", "expected"),
    [
        (0.0, (0, 0)),
        (1.0, (2**30, 1)),
        (0.5, (2**30, 0)),
        (1 - 2**-40, (2**30, 1)),
        (0.75, (3 * 2**29, 0)),
        (2.0**-32, (2**30, -31)),
        (2.0**-33, (0, 0)),
        (2.0**31 - 1, (2**31 - 1, 31)),
    ],
)
def test_quantize_multiplier(real: float, expected: tuple[int, int]) -> None:
    assert quantize_multiplier(real) == expected


@pytest.mark.parametrize(
    ("activation", "scale", "zero_point", "expected"),
    [
        ("none", 0.1, 5, (-128, 127)),
        ("relu", 0.1, 5, (5, 127)),
        ("relu6", 0.1, 5, (5, 65)),
        ("relu6", 0.1, 100, (100, 127)),
        ("relu_n1_to_1", 0.1, 5, (-5, 15)),
        ("relu_n1_to_1", 2.0, 0, (-1, 1)),
        ("relu6", 2.4, -128, (-128, -125)),
        ("relu6", 1e-30, 0, (0, 127)),
    ],
)
def test_activation_range(
    activation: str, scale: float, zero_point: int, expected: tuple[int, int]
) -> None:
    quantization = Quantization(scales=(float(np.float32(scale)),), zero_points=(zero_point,))
    output = Tensor(name="y", shape=(1,), dtype="int8", quantization=quantization)
    op = Operator(
        name="add_0", kind="add", inputs=(), outputs=("y",), attributes={"activation": activation}
    )
    assert activation_range(op, output) == expected


def test_many_factors_are_split_as_one_is() -> None:
    rng = np.random.default_rng(5)
    reals = [0.0, 2.0**-32, 2.0**-33, 2.0**-31, 0.5, 1.0, 2.0**29, np.nextafter(1.0, 0.0)]
    reals += [1 - 2.0**-32, 1 - 2.0**-33, *(rng.random(2000) * 2.0 ** rng.integers(-40, 30, 2000))]
    found = zip(*(each.tolist() for each in multipliers(reals)), strict=True)
    assert list(found) == [quantize_multiplier(real) for real in reals]
