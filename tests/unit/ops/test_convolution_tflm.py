# SPDX-License-Identifier: Apache-2.0
"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED equal TFLM for random options."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]
SAME, VALID = 0, 1


def float32(value: float) -> float:
    return float(np.float32(value))


class Layer:
    """Random weights, bias and scales that use the whole output range."""

    def __init__(
        self, rng: np.random.Generator, builder: ModuleType, shape: tuple[int, ...], axis: int
    ) -> None:
        channels, taps = shape[axis], int(np.prod(shape)) // shape[axis]
        entries = channels if rng.random() < 0.8 else 1
        input_scale = float32(rng.uniform(0.005, 0.1))
        scales = tuple(float32(rng.uniform(0.001, 0.02)) for _ in range(entries))
        spread = input_scale * float(np.mean(scales)) * np.sqrt(taps) * 70 * 70
        tensor = builder.Tensor
        self.input = {"scales": (input_scale,), "zero_points": (int(rng.integers(-128, 128)),)}
        self.weights = tensor(
            shape=shape,
            scales=scales,
            zero_points=(0,) * entries,
            axis=axis,
            data=rng.integers(-127, 128, shape).astype(np.int8),
        )
        self.bias = tensor(
            shape=(channels,),
            dtype="int32",
            scales=tuple(float32(input_scale * scale) for scale in scales),
            zero_points=(0,) * entries,
            axis=int(rng.integers(4)),
            data=rng.integers(-9000, 9000, channels).astype(np.int32),
        )
        self.output = {
            "scales": (float32(spread / rng.uniform(20, 200)),),
            "zero_points": (int(rng.integers(-128, 128)),),
        }


def spatial_options(rng: np.random.Generator) -> dict[str, int]:
    dilated = rng.random() < 0.3
    return {
        "Padding": int(rng.integers(2)),
        "StrideH": 1 if dilated else int(rng.integers(1, 4)),
        "StrideW": 1 if dilated else int(rng.integers(1, 4)),
        "DilationHFactor": int(rng.integers(1, 4)) if dilated else 1,
        "DilationWFactor": int(rng.integers(1, 4)) if dilated else 1,
        "FusedActivationFunction": int(rng.integers(4)),
    }


def extent(size: int, kernel: int, options: dict[str, int], side: str) -> int:
    """Count the places of a window as the TFLite converter does."""
    reach = (kernel - 1) * options[f"Dilation{side}Factor"] + 1
    span = size if options["Padding"] == SAME else size - reach + 1
    return -(-span // options[f"Stride{side}"])


def spatial_model(
    rng: np.random.Generator, builder: ModuleType, multiplier: int, outputs: int
) -> Any:
    """Make a convolution; `multiplier` > 0 asks for a depthwise one."""
    options = spatial_options(rng)
    kernel = [int(rng.integers(1, 5)) for _ in "hw"]
    reach = [
        (kernel[at] - 1) * options[f"Dilation{side}Factor"] + 1 for at, side in enumerate("HW")
    ]
    low = (1, 1) if options["Padding"] == SAME else reach
    image = [int(rng.integers(least, least + 9)) for least in low]
    batch, channels = int(rng.integers(1, 3)), int(rng.integers(1, 10))
    places = [extent(image[at], kernel[at], options, side) for at, side in enumerate("HW")]
    if multiplier:
        outputs = channels * multiplier
        layer = Layer(rng, builder, (1, *kernel, outputs), axis=3)
        options |= {"DepthMultiplier": multiplier}
    else:
        layer = Layer(rng, builder, (outputs, *kernel, channels), axis=0)
    with_bias = rng.random() < 0.8
    return builder.Model(
        tensors=(
            builder.Tensor(shape=(batch, *image, channels), **layer.input),
            layer.weights,
            layer.bias,
            builder.Tensor(shape=(batch, *places, outputs), **layer.output),
        ),
        operators=(
            builder.Operator(
                code="DEPTHWISE_CONV_2D" if multiplier else "CONV_2D",
                inputs=(0, 1, 2) if with_bias else (0, 1),
                outputs=(3,),
                table="DepthwiseConv2DOptions" if multiplier else "Conv2DOptions",
                options=options,
            ),
        ),
        inputs=(0,),
        outputs=(3,),
    )


@seeded(300)
def test_conv_2d(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    equals_tflm(spatial_model(rng, tflite_builder, 0, int(rng.integers(1, 12))), rng)


@seeded(600)
def test_depthwise_conv_2d(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(1000 + seed)
    multiplier = int(rng.choice([1, 1, 2, 3, 8]))
    equals_tflm(spatial_model(rng, tflite_builder, multiplier, 0), rng)


@seeded(300)
def test_fully_connected(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(2000 + seed)
    rows, depth, outputs = (int(rng.integers(1, high)) for high in (4, 40, 12))
    layer = Layer(rng, tflite_builder, (outputs, depth), axis=0)
    keep = bool(rng.integers(2))
    leading = (1, rows) if keep else (rows,)
    tensor = tflite_builder.Tensor
    op = tflite_builder.Operator(
        code="FULLY_CONNECTED",
        inputs=(0, 1, 2) if rng.random() < 0.8 else (0, 1),
        outputs=(3,),
        table="FullyConnectedOptions",
        options={"KeepNumDims": keep, "FusedActivationFunction": int(rng.integers(4))},
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(*leading, depth), **layer.input),
            layer.weights,
            layer.bias,
            tensor(shape=(*leading, outputs), **layer.output),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(3,),
    )
    equals_tflm(model, rng)
