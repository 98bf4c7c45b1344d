# SPDX-License-Identifier: Apache-2.0
"""CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and TRANSPOSE_CONV of 16-bit activations."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]
INT32 = 2
"""What the schema calls it."""


class Layer:
    """Weights, a bias of either type or none, and scales that use the whole range."""

    def __init__(
        self,
        rng: np.random.Generator,
        builder: ModuleType,
        shape: tuple[int, ...],
        axis: int,
        biases: tuple[str, ...],
    ) -> None:
        channels, taps = shape[axis], int(np.prod(shape)) // shape[axis]
        entries = channels if rng.random() < 0.7 else 1
        scale = float(np.float32(rng.uniform(1e-5, 1e-3)))
        scales = tuple(float(np.float32(rng.uniform(0.001, 0.02))) for _ in range(entries))
        spread = scale * float(np.mean(scales)) * np.sqrt(taps) * 70 * 18000
        self.source = {"scales": (scale,), "zero_points": (0,)}
        self.target = {
            "scales": (float(np.float32(spread / rng.uniform(5000, 50000))),),
            "zero_points": (0,),
        }
        zeros = (0,) * entries
        self.weights = builder.Tensor(
            shape=shape,
            scales=scales,
            zero_points=zeros,
            axis=axis,
            data=rng.integers(-127, 128, shape).astype(np.int8),
        )
        dtype = str(rng.choice(biases))
        reach = 2**30 if dtype == "int64" and rng.random() < 0.2 else 2**20
        self.bias = builder.Tensor(
            shape=(channels,),
            dtype=dtype,
            scales=tuple(float(np.float32(scale * each)) for each in scales),
            zero_points=zeros,
            data=rng.integers(-reach, reach, channels).astype(dtype),
        )
        self.has_bias = rng.random() < 0.7
        self.options: dict[str, float] = {"FusedActivationFunction": int(rng.integers(4))}
        if not self.has_bias and "int32" in biases and rng.random() < 0.5:
            self.options["QuantizedBiasType"] = INT32


def model_of(
    builder: ModuleType,
    layer: Layer,
    code: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    options: dict[str, float],
    table: str,
) -> Any:
    tensor = builder.Tensor
    extents = np.array(shapes[1], np.int32)
    operands = [0, 1, *([2] if layer.has_bias else [])]
    if code == "TRANSPOSE_CONV":
        operands = [4, 1, 0, *operands[2:]]
    op = builder.Operator(
        code=code,
        inputs=tuple(operands),
        outputs=(3,),
        table=table,
        options={**layer.options, **options},
    )
    return builder.Model(
        tensors=(
            tensor(shape=shapes[0], dtype="int16", **layer.source),
            layer.weights,
            layer.bias,
            tensor(shape=shapes[1], dtype="int16", **layer.target),
            tensor(shape=extents.shape, dtype="int32", data=extents),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(3,),
    )


def window(rng: np.random.Generator) -> tuple[list[int], list[int], list[int], dict[str, float]]:
    """Return extents of kernel, image and result, and the options."""
    kernel = [int(rng.integers(1, 5)) for _ in "hw"]
    image = [taps + int(rng.integers(0, 7)) for taps in kernel]
    steps, same = [int(rng.integers(1, 4)) for _ in "hw"], bool(rng.integers(2))
    spans = image if same else [n - k + 1 for n, k in zip(image, kernel, strict=True)]
    places = [-(-span // step) for span, step in zip(spans, steps, strict=True)]
    options: dict[str, float] = {
        "Padding": 0 if same else 1,
        "StrideH": steps[0],
        "StrideW": steps[1],
    }
    return kernel, image, places, options


@seeded(300)
def test_conv_2d(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    kernel, image, places, options = window(rng)
    groups = int(rng.choice([1, 1, 1, 2]))
    depth, outputs = int(rng.integers(1, 10)), groups * int(rng.integers(1, 8))
    shape = (outputs, *kernel, depth)
    layer = Layer(rng, tflite_builder, shape, 0, ("int32", "int64"))
    shapes = ((1, *image, depth * groups), (1, *places, outputs))
    options |= {"DilationHFactor": 1, "DilationWFactor": 1}
    equals_tflm(model_of(tflite_builder, layer, "CONV_2D", shapes, options, "Conv2DOptions"), rng)


@seeded(300)
def test_depthwise_conv_2d(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(1000 + seed)
    kernel, image, places, options = window(rng)
    channels, multiplier = int(rng.integers(1, 10)), int(rng.choice([1, 1, 2, 3]))
    shape = (1, *kernel, channels * multiplier)
    layer = Layer(rng, tflite_builder, shape, 3, ("int64",))
    shapes = ((1, *image, channels), (1, *places, channels * multiplier))
    options |= {"DepthMultiplier": multiplier, "DilationHFactor": 1, "DilationWFactor": 1}
    model = model_of(
        tflite_builder, layer, "DEPTHWISE_CONV_2D", shapes, options, "DepthwiseConv2DOptions"
    )
    equals_tflm(model, rng)


@seeded(300)
def test_fully_connected(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(2000 + seed)
    rows, depth, outputs = (int(rng.integers(1, high)) for high in (4, 40, 12))
    layer = Layer(rng, tflite_builder, (outputs, depth), 0, ("int32", "int64"))
    shapes = ((rows, depth), (rows, outputs))
    model = model_of(tflite_builder, layer, "FULLY_CONNECTED", shapes, {}, "FullyConnectedOptions")
    equals_tflm(model, rng)


@seeded(300)
def test_transpose_conv(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(3000 + seed)
    kernel, places, image, options = window(rng)
    depth, outputs = int(rng.integers(1, 10)), int(rng.integers(1, 8))
    layer = Layer(rng, tflite_builder, (outputs, *kernel, depth), 0, ("int64",))
    shapes = ((1, *image, depth), (1, *places, outputs))
    model = model_of(
        tflite_builder, layer, "TRANSPOSE_CONV", shapes, options, "TransposeConvOptions"
    )
    equals_tflm(model, rng)
