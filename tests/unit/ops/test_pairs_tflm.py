# SPDX-License-Identifier: Apache-2.0
"""Kinds of two operands, of truth values and CAST equal TFLM for random shapes and scales."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]
COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
TYPES = ("bool", "int8", "int16", "int32")
NUMBERS = ("int32", "int64")


def quantized(rng: np.random.Generator, low: float = 0.005, high: float = 0.5) -> dict[str, Any]:
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return {"scales": (scale,), "zero_points": (int(rng.integers(-128, 128)),)}


def even(rng: np.random.Generator, low: float = 1e-5, high: float = 1e-3) -> dict[str, Any]:
    """Draw how an int16 tensor is quantised."""
    return quantized(rng, low, high) | {"zero_points": (0,), "dtype": "int16"}


def typed(dtype: str, rng: np.random.Generator) -> dict[str, Any]:
    if dtype in ("bool", *NUMBERS):
        return {"dtype": dtype}
    return quantized(rng) if dtype == "int8" else even(rng)


def shapes(rng: np.random.Generator, count: int) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Draw shapes that broadcast, one of them whole, and the shape that they broadcast to."""
    most = int(rng.choice((4, 8)))
    whole = tuple(int(size) for size in rng.integers(1, most, int(rng.integers(1, 5))))
    drawn = [whole]
    for _ in range(count - 1):
        narrow = tuple(1 if rng.random() < 0.4 else extent for extent in whole)
        drawn.append(whole if rng.random() < 0.4 else narrow[int(rng.integers(len(whole))) :])
    rng.shuffle(drawn)
    return drawn, whole


def made(
    rng: np.random.Generator,
    builder: ModuleType,
    code: str,
    sources: list[dict[str, Any]],
    target: dict[str, Any],
    table: str = "",
    **options: float,
) -> Any:
    """Make an operator, now and then with a constant."""
    drawn, whole = shapes(rng, len(sources))
    if code == "PRELU":
        drawn.sort(key=lambda shape: shape != whole)
    tensors = [
        builder.Tensor(shape=shape, **side) for shape, side in zip(drawn, sources, strict=True)
    ]
    given = [*range(len(sources))]
    if len(sources) > 1 and rng.random() < 0.3:
        at = int(rng.integers(len(sources)))
        given.remove(at)
        dtype = sources[at].get("dtype", "int8")
        values = (
            rng.integers(0, 2, drawn[at]) if dtype == "bool" else rng.integers(-99, 99, drawn[at])
        )
        tensors[at] = builder.Tensor(shape=drawn[at], **sources[at], data=values.astype(dtype))
    tensors.append(builder.Tensor(shape=whole, **target))
    count = len(sources)
    op = builder.Operator(
        code=code, inputs=tuple(range(count)), outputs=(count,), table=table, options=options
    )
    return builder.Model(
        tensors=tuple(tensors), operators=(op,), inputs=tuple(given), outputs=(count,)
    )


@pytest.mark.parametrize("code", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("wide", [False, True], ids=["int8", "int16"])
@seeded(500)
def test_arithmetic(
    seed: int, wide: bool, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    draw = even if wide else quantized
    sources = [draw(rng), draw(rng)]
    if seed % 4 == 0:
        sources[1] = sources[0]
    target = draw(rng)
    if code == "MUL":
        product = sources[0]["scales"][0] * sources[1]["scales"][0]
        target["scales"] = (float(np.float32(product * rng.uniform(0.5, 2e4 if wide else 200))),)
    options = {"FusedActivationFunction": int(rng.integers(4))}
    table = f"{code.title()}Options"
    equals_tflm(made(rng, tflite_builder, code, sources, target, table, **options), rng)


@pytest.mark.parametrize("code", ["ADD", "SUB", "MUL", "SQUARED_DIFFERENCE"])
@seeded(200)
def test_arithmetic_of_numbers(
    seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """Sums and products of int32 from its whole range wrap around, before they are clamped."""
    rng = np.random.default_rng(9000 + seed)
    table = "" if code == "SQUARED_DIFFERENCE" else f"{code.title()}Options"
    clamps = {"FusedActivationFunction": int(rng.integers(4))} if code in ("SUB", "MUL") else {}
    side = {"dtype": "int32"}
    equals_tflm(made(rng, tflite_builder, code, [side, side], side, table, **clamps), rng)


@pytest.mark.parametrize("wide", [False, True], ids=["int8", "int16"])
@seeded(500)
def test_prelu(seed: int, wide: bool, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(1000 + seed)
    draw = even if wide else quantized
    sources = [draw(rng), quantized(rng, 0.001, 0.02)]
    target = sources[0] if seed % 3 == 0 else draw(rng)
    equals_tflm(made(rng, tflite_builder, "PRELU", sources, target), rng)


@pytest.mark.parametrize("wide", [False, True], ids=["int8", "int16"])
@seeded(500)
def test_squared_difference(
    seed: int, wide: bool, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(2000 + seed)
    draw = even if wide else quantized
    sources = [draw(rng), draw(rng)]
    if seed % 3 == 0:
        sources[1] = sources[0]
    scale = max(side["scales"][0] for side in sources) ** 2
    target = draw(rng)
    target["scales"] = (float(np.float32(scale * rng.uniform(1, 2e5 if wide else 2000))),)
    equals_tflm(made(rng, tflite_builder, "SQUARED_DIFFERENCE", sources, target), rng)


@pytest.mark.parametrize("code", ["MAXIMUM", "MINIMUM"])
@pytest.mark.parametrize("dtype", ["int8", "int16", *NUMBERS])
@seeded(250)
def test_extremes(
    seed: int, dtype: str, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(3000 + seed)
    side = typed(dtype, rng)
    equals_tflm(made(rng, tflite_builder, code, [side, side], side), rng)


@pytest.mark.parametrize("code", COMPARISONS)
@seeded(800)
def test_comparisons(
    seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """Small scales round neighbours to one value."""
    rng = np.random.default_rng(4000 + seed)
    dtype = "int8" if seed % 5 else "int32" if "EQUAL" not in code or seed % 2 else "bool"
    if dtype == "bool" and code not in ("EQUAL", "NOT_EQUAL"):
        dtype = "int32"
    if dtype == "int8":
        sources = [quantized(rng, 0.0005, 0.9) for _ in range(2)]
        if seed % 3 == 0:
            sources = [quantized(rng, 0.0001, 0.003)] * 2
    else:
        sources = [{"dtype": dtype}, {"dtype": dtype}]
    equals_tflm(made(rng, tflite_builder, code, sources, {"dtype": "bool"}), rng)


@pytest.mark.parametrize("code", COMPARISONS)
@seeded(200)
def test_comparisons_of_long_numbers(
    seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(9500 + seed)
    sources = [{"dtype": "int64"}, {"dtype": "int64"}]
    equals_tflm(made(rng, tflite_builder, code, sources, {"dtype": "bool"}), rng)


@pytest.mark.parametrize("code", ["LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT"])
@seeded(1000)
def test_truths(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(5000 + seed)
    sources = [{"dtype": "bool"}] * (1 if code == "LOGICAL_NOT" else 2)
    equals_tflm(made(rng, tflite_builder, code, sources, {"dtype": "bool"}), rng)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
@seeded(500)
def test_select(seed: int, dtype: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(6000 + seed)
    side = typed(dtype, rng)
    equals_tflm(made(rng, tflite_builder, "SELECT_V2", [{"dtype": "bool"}, side, side], side), rng)


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", TYPES)
@seeded(63)
def test_cast(
    seed: int, target: str, source: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(7000 + seed)
    sides = typed(source, rng), typed(target, rng)
    equals_tflm(made(rng, tflite_builder, "CAST", [sides[0]], sides[1]), rng)


@seeded(1000)
def test_add_n(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(8000 + seed)
    side, count = quantized(rng), int(rng.integers(2, 8))
    shape = tuple(int(size) for size in rng.integers(1, 8, int(rng.integers(1, 5))))
    tensors = [tflite_builder.Tensor(shape=shape, **side) for _ in range(count)]
    tensors.append(tflite_builder.Tensor(shape=shape, **quantized(rng)))
    given = tuple(range(count))
    op = tflite_builder.Operator(code="ADD_N", inputs=given, outputs=(count,))
    model = tflite_builder.Model(
        tensors=tuple(tensors), operators=(op,), inputs=given, outputs=(count,)
    )
    equals_tflm(model, rng)
