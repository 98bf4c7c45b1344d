# SPDX-License-Identifier: Apache-2.0
"""Poolings, MEAN, SUM and BATCH_MATMUL of 16-bit activations equal TFLM."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]


def quantized(rng: np.random.Generator, low: float, high: float) -> dict[str, Any]:
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return {"dtype": "int16", "scales": (scale,), "zero_points": (0,)}


@pytest.mark.parametrize("code", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@seeded(300)
def test_pooling(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(seed), tflite_builder.Tensor
    kernel = [int(rng.integers(1, 5)) for _ in "hw"]
    image = [taps + int(rng.integers(0, 7)) for taps in kernel]
    steps, same = [int(rng.integers(1, 4)) for _ in "hw"], bool(rng.integers(2))
    spans = image if same else [n - k + 1 for n, k in zip(image, kernel, strict=True)]
    places = [-(-span // step) for span, step in zip(spans, steps, strict=True)]
    channels, scale = int(rng.integers(1, 9)), quantized(rng, 1e-4, 1e-3)
    op = tflite_builder.Operator(
        code=code,
        inputs=(0,),
        outputs=(1,),
        table="Pool2DOptions",
        options={
            "Padding": 0 if same else 1,
            "StrideH": steps[0],
            "StrideW": steps[1],
            "FilterHeight": kernel[0],
            "FilterWidth": kernel[1],
            "FusedActivationFunction": int(rng.integers(4)),
        },
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(1, *image, channels), **scale),
            tensor(shape=(1, *places, channels), **scale),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(1,),
    )
    equals_tflm(model, rng)


@pytest.mark.parametrize("code", ["MEAN", "SUM"])
@seeded(500)
def test_sums(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(1000 + seed), tflite_builder.Tensor
    shape = tuple(int(size) for size in rng.integers(1, 7, int(rng.integers(1, 5))))
    axes = rng.choice(len(shape), size=int(rng.integers(1, len(shape) + 1)), replace=False)
    keep = bool(rng.integers(2))
    left = (1 if at in axes else n for at, n in enumerate(shape) if keep or at not in axes)
    op = tflite_builder.Operator(
        code=code, inputs=(0, 1), outputs=(2,), table="ReducerOptions", options={"KeepDims": keep}
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=shape, **quantized(rng, 1e-4, 1e-3)),
            tensor(shape=axes.shape, dtype="int32", data=axes.astype(np.int32)),
            tensor(shape=tuple(left), **quantized(rng, 3e-5, 5e-3)),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )
    equals_tflm(model, rng)


@seeded(300)
def test_batch_matmul(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(2000 + seed), tflite_builder.Tensor
    rows, depth, columns = (int(rng.integers(1, 12)) for _ in range(3))
    batch = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 4))))
    adjoint = [bool(rng.integers(2)) for _ in range(2)]
    pairs = [(rows, depth), (depth, columns)]
    shapes = [
        (*batch, *(pair[::-1] if turned else pair))
        for pair, turned in zip(pairs, adjoint, strict=True)
    ]
    scales = [quantized(rng, 1e-4, 1e-3) for _ in range(2)]
    typical = scales[0]["scales"][0] * scales[1]["scales"][0] * np.sqrt(depth) * 18000**2
    op = tflite_builder.Operator(
        code="BATCH_MATMUL",
        inputs=(0, 1),
        outputs=(2,),
        table="BatchMatMulOptions",
        options={"AdjX": adjoint[0], "AdjY": adjoint[1]},
    )
    target = quantized(rng, typical / 50000, typical / 5000)
    model = tflite_builder.Model(
        tensors=(
            *(tensor(shape=shape, **scale) for shape, scale in zip(shapes, scales, strict=True)),
            tensor(shape=(*batch, rows, columns), **target),
        ),
        operators=(op,),
        inputs=(0, 1),
        outputs=(2,),
    )
    equals_tflm(model, rng)
