# SPDX-License-Identifier: Apache-2.0
"""DIV equals TFLM for random shapes and scales, wherever TFLM divides rightly."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded
from tests.kernels import hold
from tests.unit.ops.test_pairs_tflm import quantized, shapes

from atoll.frontend.tflite.load import load_tflite
from atoll.ops.registry import kind_of

Compare = Callable[..., None]


def divided(
    rng: np.random.Generator, builder: ModuleType, sides: list[dict[str, Any]], zero: int
) -> tuple[Any, list[Any]]:
    """Make a DIV and its operands, where no divisor is `zero` and none overflows."""
    drawn, whole = shapes(rng, 2)
    dtype = sides[0].get("dtype", "int8")
    limits = np.iinfo(dtype)
    values = [rng.integers(limits.min, limits.max, each, dtype, endpoint=True) for each in drawn]
    if rng.random() < 0.5:
        values[1] = rng.integers(-9, 10, drawn[1]).astype(dtype)
    values[1][values[1] == zero] = zero + 1 if zero < limits.max else zero - 1
    values[0] = np.maximum(values[0], limits.min + (dtype == "int32"))
    constant = int(rng.integers(3))
    tensors = [
        builder.Tensor(shape=shape, **side, data=each if at == constant else None)
        for at, (shape, side, each) in enumerate(zip(drawn, sides, values, strict=False))
    ]
    tensors.append(builder.Tensor(shape=whole, **sides[2]))
    options = {"FusedActivationFunction": int(rng.integers(4))}
    op = builder.Operator(
        code="DIV", inputs=(0, 1), outputs=(2,), table="DivOptions", options=options
    )
    given = [at for at in (0, 1) if at != constant]
    model = builder.Model(
        tensors=tuple(tensors), operators=(op,), inputs=tuple(given), outputs=(2,)
    )
    return model, [values[at] for at in given]


@seeded(500)
def test_division(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    """Factors are the least and the greatest with which TFLM rounds every quotient, and between."""
    rng = np.random.default_rng(9200 + seed)
    sides = [quantized(rng), quantized(rng)]
    ratio = sides[0]["scales"][0] / sides[1]["scales"][0]
    scale = ratio / 2.0 ** rng.uniform(6.001, rng.choice((9, 22.99)))
    target = quantized(rng) | {"scales": (float(np.float32(scale)),)}
    zero = sides[1]["zero_points"][0]
    model, given = divided(rng, tflite_builder, [*sides, target], zero)
    equals_tflm(model, rng, given)


@seeded(500)
def test_division_of_numbers(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(9300 + seed)
    model, given = divided(rng, tflite_builder, [{"dtype": "int32"}] * 3, 0)
    equals_tflm(model, rng, given)


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [(7, 0, 7), (-7, 0, -7), (-(2**31), -1, -(2**31)), (-(2**31), -(2**31), 1), (5, -(2**31), 0)],
)
def test_what_tflm_does_not_divide(
    dividend: int, divisor: int, quotient: int, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """A divisor of 0 counts as 1, and the only quotient that does not fit wraps around."""
    tensor, side = tflite_builder.Tensor, {"shape": (1,), "dtype": "int32"}
    op = tflite_builder.Operator(code="DIV", inputs=(0, 1), outputs=(2,), table="DivOptions")
    tensors = tuple(tensor(**side, name=name) for name in ("a", "b", "q"))
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0, 1), outputs=(2,))
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(model))
    graph = load_tflite(path)
    (made,) = graph.operators
    given = [np.array([value], np.int32) for value in (dividend, divisor)]
    expected = np.array([quotient], np.int32)
    values = dict(zip((*graph.inputs, *graph.outputs), (*given, expected), strict=True))
    np.testing.assert_array_equal(kind_of(made).reference(made, graph, given)[0], expected)
    hold(kind_of(made).lower(made, graph), values, expected, interpreted=True)
