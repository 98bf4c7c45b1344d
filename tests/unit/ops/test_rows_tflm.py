# SPDX-License-Identifier: Apache-2.0
"""CUMSUM, L2_NORMALIZATION and LOG_SOFTMAX equal TFLM for random shapes and scales."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]


def quantized(rng: np.random.Generator, low: float, high: float) -> dict[str, Any]:
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return {"scales": (scale,), "zero_points": (int(rng.integers(-128, 128)),)}


def model_of(
    builder: ModuleType, shape: tuple[int, ...], source: Any, target: Any, op: Any, axis: Any = ()
) -> Any:
    more = (
        [builder.Tensor(shape=axis.shape, dtype="int32", data=axis)] if len(op.inputs) > 1 else []
    )
    tensors = (builder.Tensor(shape=shape, **source), builder.Tensor(shape=shape, **target), *more)
    return builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))


@seeded(1000)
def test_cumsum(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.integers(1, 9, int(rng.integers(1, 5))))
    if seed % 5 == 0:
        shape = (int(rng.integers(30, 200)), 2)
    axis = np.array(int(rng.integers(len(shape))) - len(shape) * int(rng.integers(2)), np.int32)
    axis = axis if rng.random() < 0.5 else axis.reshape(1)
    op = tflite_builder.Operator(
        code="CUMSUM",
        inputs=(0, 2),
        outputs=(1,),
        table="CumsumOptions",
        options={"Exclusive": bool(rng.integers(2)), "Reverse": bool(rng.integers(2))},
    )
    source, target = quantized(rng, 0.01, 0.1), quantized(rng, 0.01, 1.0)
    equals_tflm(model_of(tflite_builder, shape, source, target, op, axis), rng)


@seeded(1000)
def test_normalization(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(1000 + seed)
    leading = tuple(int(size) for size in rng.integers(1, 7, int(rng.integers(0, 4))))
    shape = (*leading, int(rng.choice([1, 2, 3, 8, 64, 300, 10000])) if seed % 9 else 9000)
    op = tflite_builder.Operator(
        code="L2_NORMALIZATION", inputs=(0,), outputs=(1,), table="L2NormOptions"
    )
    if shape[-1] > 300:
        shape = shape[-1:]
    target = {"scales": (1 / 128,), "zero_points": (0,)}
    equals_tflm(model_of(tflite_builder, shape, quantized(rng, 0.01, 0.1), target, op), rng)


@seeded(1000)
def test_log_softmax(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(2000 + seed)
    leading = tuple(int(size) for size in rng.integers(1, 7, int(rng.integers(0, 4))))
    shape = (*leading, int(rng.choice([1, 2, 3, 10, 100])))
    op = tflite_builder.Operator(
        code="LOG_SOFTMAX", inputs=(0,), outputs=(1,), table="LogSoftmaxOptions"
    )
    target = {"scales": (1 / 16,), "zero_points": (127,)}
    equals_tflm(model_of(tflite_builder, shape, quantized(rng, 0.0005, 3.0), target, op), rng)
