# SPDX-License-Identifier: Apache-2.0
"""Kinds of one operand equal TFLM for random shapes, scales and options."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]


def quantized(rng: np.random.Generator, low: float = 0.005, high: float = 0.5) -> dict[str, Any]:
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    zero = int(rng.choice((-128, 127, int(rng.integers(-128, 128)))))
    return {"scales": (scale,), "zero_points": (zero,)}


def even(rng: np.random.Generator, low: float = 1e-5, high: float = 1e-3) -> dict[str, Any]:
    """Draw how an int16 tensor is quantised."""
    return quantized(rng, low, high) | {"zero_points": (0,), "dtype": "int16"}


def unary(
    rng: np.random.Generator,
    builder: ModuleType,
    code: str,
    source: dict[str, Any],
    target: dict[str, Any],
    table: str = "",
    **options: float,
) -> Any:
    """Make an operator on up to 4 dimensions, often with more than 256 elements."""
    most = int(rng.choice((4, 9)))
    shape = tuple(int(size) for size in rng.integers(1, most, int(rng.integers(1, 5))))
    op = builder.Operator(code=code, inputs=(0,), outputs=(1,), table=table, options=options)
    tensors = (builder.Tensor(shape=shape, **source), builder.Tensor(shape=shape, **target))
    return builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))


@pytest.mark.parametrize("code", ["LOGISTIC", "TANH"])
@seeded(500)
def test_sigmoid(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    logistic = code == "LOGISTIC"
    target = {"scales": (1 / 256 if logistic else 1 / 128,)}
    target |= {"zero_points": (-128 if logistic else 0,)}
    source = quantized(rng, 1e-5, 20.0) if seed % 3 == 0 else quantized(rng)
    equals_tflm(unary(rng, tflite_builder, code, source, target), rng)


@seeded(1000)
def test_hard_swish(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(1000 + seed)
    source = quantized(rng, 1e-4, 50.0) if seed % 3 == 0 else quantized(rng)
    scale = source["scales"][0]
    target = quantized(rng, scale / 100, min(scale * (1e6 if seed % 5 == 0 else 10), 2.0**16))
    equals_tflm(unary(rng, tflite_builder, "HARD_SWISH", source, target), rng)


@pytest.mark.parametrize("code", ["RELU", "ABS", "ELU"])
@seeded(1000)
def test_rescaled(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(2000 + seed)
    source = quantized(rng)
    target = source if seed % 4 == 0 else quantized(rng, 0.002, 1.0)
    if seed % 4 == 1:
        target |= {"scales": source["scales"]}
    equals_tflm(unary(rng, tflite_builder, code, source, target), rng)


@seeded(700)
def test_relu6(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(3000 + seed)
    source = quantized(rng, 0.005, 10.0)
    equals_tflm(unary(rng, tflite_builder, "RELU6", source, source), rng)


@pytest.mark.parametrize("wide", [False, True], ids=["int8", "int16"])
@seeded(500)
def test_leaky_relu(
    seed: int, wide: bool, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(4000 + seed)
    draw = even if wide else quantized
    source = draw(rng)
    target = source if seed % 3 == 0 else draw(rng)
    alpha = float(np.float32(rng.choice((0.01, 0.1, 0.25, 0.0, 1.5, -0.2))))
    model = unary(
        rng, tflite_builder, "LEAKY_RELU", source, target, "LeakyReluOptions", Alpha=alpha
    )
    equals_tflm(model, rng)


@pytest.mark.parametrize("code", ["RELU", "RELU6", "ABS"])
@seeded(300)
def test_int16(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(5000 + seed)
    source = even(rng)
    target = source if code == "RELU6" or seed % 3 == 0 else even(rng)
    equals_tflm(unary(rng, tflite_builder, code, source, target), rng)


@seeded(500)
def test_rsqrt(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    """TFLM ends the run for what is below the zero point, so that is the least value."""
    rng = np.random.default_rng(6000 + seed)
    source = quantized(rng) | {"zero_points": (-128,)}
    equals_tflm(unary(rng, tflite_builder, "RSQRT", source, quantized(rng, 0.01, 1.0)), rng)


@seeded(500)
def test_rsqrt_of_int16(
    seed: int, tflite_builder: ModuleType, equals_tflm: Callable[..., None]
) -> None:
    """Values have all magnitudes, none is below 0."""
    rng = np.random.default_rng(6500 + seed)
    model = unary(rng, tflite_builder, "RSQRT", even(rng), even(rng))
    shape = model.tensors[0].shape
    values = (2 ** rng.uniform(0, 15, shape)).astype(np.int16) - rng.integers(0, 2, shape)
    equals_tflm(model, rng, [values.astype(np.int16)])


PAIRS = [
    *(("int8", "int16"), ("int8", "int32"), ("int16", "int8"), ("int16", "int16")),
    *(("int16", "int32"), ("int32", "int8"), ("int32", "int16")),
]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@seeded(110)
def test_quantize(
    seed: int, pair: tuple[str, str], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(7000 + seed)
    sides = []
    for dtype in pair:
        scale = {"int8": 0.05, "int16": 2e-4, "int32": 3e-9}[dtype]
        side = quantized(rng, scale / 8, scale * 8) | {"dtype": dtype}
        sides.append(side if dtype == "int8" else side | {"zero_points": (0,)})
    if seed % 4 == 0 and "int32" not in pair:
        sides[1] |= {"scales": sides[0]["scales"]}
    equals_tflm(unary(rng, tflite_builder, "QUANTIZE", sides[0], sides[1]), rng)


@pytest.mark.parametrize("code", ["LOGISTIC", "TANH"])
@seeded(500)
def test_sigmoid_of_int16(
    seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """Powers of two are multiplied exactly, others by a factor of 15 bits."""
    rng = np.random.default_rng(8000 + seed)
    source = even(rng, 1e-6, 2.4) if seed % 3 else even(rng, 1e-4, 1e-3)
    if seed % 4 == 0:
        source["scales"] = (2.0 ** -int(rng.integers(8, 16)),)
    target = {"scales": (2.0**-15,), "zero_points": (0,), "dtype": "int16"}
    equals_tflm(unary(rng, tflite_builder, code, source, target), rng)
