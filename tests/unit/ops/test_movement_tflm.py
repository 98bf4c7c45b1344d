# SPDX-License-Identifier: Apache-2.0
"""Pooling, PAD, CONCATENATION and RESHAPE equal TFLM for random shapes and options."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]
QUANTIZED: dict[str, Any] = {"scales": (0.05,), "zero_points": (-7,)}
WIDE: dict[str, Any] = {"dtype": "int16", "scales": (0.05,), "zero_points": (0,)}
INT32: dict[str, Any] = {"dtype": "int32"}
SAME = 0


@seeded(700)
@pytest.mark.parametrize("code", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
def test_pooling(code: str, seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    padding = int(rng.integers(2))
    kernel, stride = rng.integers(1, 6, 2), rng.integers(1, 4, 2)
    image = rng.integers(1, 12, 2) if padding == SAME else kernel + rng.integers(0, 9, 2)
    span = image if padding == SAME else image - kernel + 1
    places = -(-span // stride)
    batch, channels = (int(count) for count in rng.integers(1, 6, 2))
    options = {
        "Padding": padding,
        "FilterHeight": int(kernel[0]),
        "FilterWidth": int(kernel[1]),
        "StrideH": int(stride[0]),
        "StrideW": int(stride[1]),
        "FusedActivationFunction": int(rng.integers(4)),
    }
    shapes = [(batch, *map(int, extent), channels) for extent in (image, places)]
    model = tflite_builder.Model(
        tensors=tuple(tflite_builder.Tensor(shape=shape, **QUANTIZED) for shape in shapes),
        operators=(
            tflite_builder.Operator(
                code=code, inputs=(0,), outputs=(1,), table="Pool2DOptions", options=options
            ),
        ),
        inputs=(0,),
        outputs=(1,),
    )
    equals_tflm(model, rng)


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE, INT32], ids=["int8", "int16", "int32"])
@seeded(334)
def test_pad(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(100 + seed)
    dimensions = int(rng.integers(1, 5))
    shape, pairs = rng.integers(1, 6, dimensions), rng.integers(0, 4, (dimensions, 2))
    tensor = tflite_builder.Tensor
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=tuple(map(int, shape)), **quantized),
            tensor(shape=pairs.shape, dtype="int32", data=pairs.astype(np.int32)),
            tensor(shape=tuple(map(int, shape + pairs.sum(axis=1))), **quantized),
        ),
        operators=(tflite_builder.Operator(code="PAD", inputs=(0, 1), outputs=(2,)),),
        inputs=(0,),
        outputs=(2,),
    )
    equals_tflm(model, rng)


@seeded(300)
def test_concatenation(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(200 + seed)
    dimensions, count = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    axis, base = int(rng.integers(dimensions)), rng.integers(1, 5, dimensions)
    extents = rng.integers(1, 5, count)
    shapes = [(*base[:axis], extent, *base[axis + 1 :]) for extent in (*extents, extents.sum())]
    op = tflite_builder.Operator(
        code="CONCATENATION",
        inputs=tuple(range(count)),
        outputs=(count,),
        table="ConcatenationOptions",
        options={"Axis": axis - dimensions * int(rng.integers(2))},
    )
    model = tflite_builder.Model(
        tensors=tuple(
            tflite_builder.Tensor(shape=tuple(map(int, shape)), **QUANTIZED) for shape in shapes
        ),
        operators=(op,),
        inputs=tuple(range(count)),
        outputs=(count,),
    )
    equals_tflm(model, rng)


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE, INT32], ids=["int8", "int16", "int32"])
@seeded(334)
def test_reshape(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """One extent may be -1; the shape is an operand, an option, or that of the result.

    Nobody reads the operand, which may be computed.
    """
    rng, tensor = np.random.default_rng(300 + seed), tflite_builder.Tensor
    factors = [int(extent) for extent in rng.integers(1, 6, int(rng.integers(1, 6)))]
    shapes = []
    for _ in range(2):
        rng.shuffle(factors)
        cuts = sorted(rng.integers(0, len(factors) + 1, int(rng.integers(0, 5))))
        parts = np.split(factors, cuts)
        shapes.append(tuple(int(np.prod(part)) for part in parts))
    source, result = shapes
    wanted = np.array(result, np.int32)
    if rng.integers(2):
        wanted[int(rng.integers(len(wanted)))] = -1
    way = int(rng.integers(3))
    options = {"NewShape": tuple(wanted.tolist())} if way == 1 else {}
    computed = way == 0 and wanted.size > 0 and seed % 4 == 0
    op = tflite_builder.Operator(
        code="RESHAPE",
        inputs=(0, 1) if way == 0 else (0,),
        outputs=(2,),
        table="ReshapeOptions",
        options=options,
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=source, **quantized),
            tensor(shape=wanted.shape, dtype="int32", data=None if computed else wanted),
            tensor(shape=result, **quantized),
        ),
        operators=(op,),
        inputs=(0, 1) if computed else (0,),
        outputs=(2,),
    )
    equals_tflm(model, rng)
