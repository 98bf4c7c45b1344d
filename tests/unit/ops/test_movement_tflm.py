"""Pooling, PAD, CONCATENATION and RESHAPE equal TFLM for random shapes and options."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import cases

Compare = Callable[[Any, np.random.Generator], None]
SEEDS = range(cases(30))
QUANTIZED: dict[str, Any] = {"scales": (0.05,), "zero_points": (-7,)}
WIDE: dict[str, Any] = {"dtype": "int16", "scales": (0.05,), "zero_points": (0,)}
INT32: dict[str, Any] = {"dtype": "int32"}
SAME = 0


@pytest.mark.parametrize("seed", SEEDS)
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
@pytest.mark.parametrize("seed", SEEDS)
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


@pytest.mark.parametrize("seed", SEEDS)
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


@pytest.mark.parametrize("with_shape", [False, True])
def test_reshape(with_shape: bool, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    wanted, tensor = np.array([3, -1], np.int32), tflite_builder.Tensor
    op = tflite_builder.Operator(
        code="RESHAPE",
        inputs=(0, 1) if with_shape else (0,),
        outputs=(2,),
        **({} if with_shape else {"table": "ReshapeOptions", "options": {}}),
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(2, 3, 4), **QUANTIZED),
            tensor(shape=(2,), dtype="int32", data=wanted),
            tensor(shape=(3, 8), **QUANTIZED),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )
    equals_tflm(model, np.random.default_rng(5))
