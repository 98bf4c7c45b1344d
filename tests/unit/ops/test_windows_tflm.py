# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE_CONV, grouped CONV_2D, RESIZE_BILINEAR and products of matrices equal TFLM."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]


def quantized(rng: np.random.Generator, low: float, high: float) -> dict[str, Any]:
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return {"scales": (scale,), "zero_points": (int(rng.integers(-128, 128)),)}


def layer(
    rng: np.random.Generator, builder: ModuleType, shape: tuple[int, ...]
) -> tuple[dict[str, Any], Any, Any, dict[str, Any]]:
    """Return input, weights, bias and output of a convolution whose sums use the whole range."""
    channels, taps = shape[0], int(np.prod(shape[1:]))
    entries = channels if rng.random() < 0.7 else 1
    source = quantized(rng, 0.005, 0.1)
    scales = tuple(float(np.float32(rng.uniform(0.001, 0.02))) for _ in range(entries))
    spread = source["scales"][0] * float(np.mean(scales)) * np.sqrt(taps) * 70 * 70
    weights = builder.Tensor(
        shape=shape,
        scales=scales,
        zero_points=(0,) * entries,
        data=rng.integers(-127, 128, shape).astype(np.int8),
    )
    bias = builder.Tensor(
        shape=(channels,),
        dtype="int32",
        scales=tuple(float(np.float32(source["scales"][0] * scale)) for scale in scales),
        zero_points=(0,) * entries,
        data=rng.integers(-9000, 9000, channels).astype(np.int32),
    )
    return source, weights, bias, quantized(rng, spread / 200, spread / 20)


@seeded(700)
def test_transpose_conv(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(seed), tflite_builder.Tensor
    batch, height, width, depth = (int(rng.integers(1, high)) for high in (3, 6, 6, 10))
    rows, columns, outputs = (int(rng.integers(1, high)) for high in (6, 6, 10))
    strides, same = [int(rng.integers(1, 5)) for _ in "hw"], bool(rng.integers(2))
    result = [height * strides[0], width * strides[1]]
    if not same:
        result = [(height - 1) * strides[0] + rows, (width - 1) * strides[1] + columns]
    if rng.random() < 0.3:
        result = [max(1, extent + int(rng.integers(-3, 4))) for extent in result]
    source, weights, bias, target = layer(rng, tflite_builder, (outputs, rows, columns, depth))
    shape = np.array([batch, *result, outputs], np.int32)
    op = tflite_builder.Operator(
        code="TRANSPOSE_CONV",
        inputs=(0, 1, 2, 3) if rng.random() < 0.7 else (0, 1, 2),
        outputs=(4,),
        table="TransposeConvOptions",
        options={
            "Padding": 0 if same else 1,
            "StrideH": strides[0],
            "StrideW": strides[1],
            "FusedActivationFunction": int(rng.integers(4)),
        },
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(4,), dtype="int32", data=None if seed % 8 == 0 else shape),
            weights,
            tensor(shape=(batch, height, width, depth), **source),
            bias,
            tensor(shape=tuple(shape.tolist()), **target),
        ),
        operators=(op,),
        inputs=(2, 0) if seed % 8 == 0 else (2,),
        outputs=(4,),
    )
    equals_tflm(model, rng)


@seeded(400)
def test_grouped_conv_2d(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(1000 + seed), tflite_builder.Tensor
    groups, depth, each = (int(rng.integers(low, high)) for low, high in ((2, 5), (1, 6), (1, 6)))
    rows, columns = (int(rng.integers(1, 4)) for _ in "hw")
    dilated = rng.random() < 0.3
    steps = {f"Stride{side}": 1 if dilated else int(rng.integers(1, 4)) for side in "HW"}
    wide = {f"Dilation{side}Factor": int(rng.integers(1, 4)) if dilated else 1 for side in "HW"}
    reach = [
        (n - 1) * wide[f"Dilation{side}Factor"] + 1 for n, side in ((rows, "H"), (columns, "W"))
    ]
    image = [n + int(rng.integers(0, 6)) for n in reach]
    same = bool(rng.integers(2))
    spans = image if same else [size - n + 1 for size, n in zip(image, reach, strict=True)]
    places = [-(-span // steps[f"Stride{side}"]) for span, side in zip(spans, "HW", strict=True)]
    source, weights, bias, target = layer(
        rng, tflite_builder, (groups * each, rows, columns, depth)
    )
    options = {
        **steps,
        **wide,
        "Padding": 0 if same else 1,
        "FusedActivationFunction": int(rng.integers(4)),
    }
    op = tflite_builder.Operator(
        code="CONV_2D",
        inputs=(0, 1, 2) if rng.random() < 0.7 else (0, 1),
        outputs=(3,),
        table="Conv2DOptions",
        options=options,
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(1, *image, groups * depth), **source),
            weights,
            bias,
            tensor(shape=(1, *places, groups * each), **target),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(3,),
    )
    equals_tflm(model, rng)


@seeded(1000)
def test_resize_bilinear(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(2000 + seed), tflite_builder.Tensor
    batch, height, width, depth = (int(rng.integers(1, high)) for high in (3, 12, 12, 6))
    size = rng.integers(1, 20, 2).astype(np.int32)
    if seed % 4 == 0:
        size = np.array([height, width], np.int32) * rng.integers(1, 4)
    mode, scale = int(rng.integers(3)), quantized(rng, 0.01, 0.1)
    op = tflite_builder.Operator(
        code="RESIZE_BILINEAR",
        inputs=(0, 1),
        outputs=(2,),
        table="ResizeBilinearOptions",
        options={"AlignCorners": mode == 1, "HalfPixelCenters": mode == 2},
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(batch, height, width, depth), **scale),
            tensor(shape=(2,), dtype="int32", data=size.astype(np.int32)),
            tensor(shape=(batch, *size.tolist(), depth), **scale),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )
    equals_tflm(model, rng)


@seeded(400)
def test_batch_matmul(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(3000 + seed), tflite_builder.Tensor
    rows, depth, columns = (int(rng.integers(1, 10)) for _ in range(3))
    batch = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 4))))
    spread = [tuple(1 if rng.random() < 0.3 else n for n in batch) for _ in range(2)]
    cut = int(rng.integers(len(batch) + 1)) if rng.random() < 0.3 else 0
    spread[0], spread[1] = (
        (spread[0][cut:], spread[1])
        if rng.random() < 0.5
        else (
            spread[0],
            spread[1][cut:],
        )
    )
    result = np.broadcast_shapes(*spread)
    adjoint = [bool(rng.integers(2)) for _ in range(2)]
    pairs = [(rows, depth), (depth, columns)]
    shapes = [
        (*leading, *(pair[::-1] if turned else pair))
        for leading, pair, turned in zip(spread, pairs, adjoint, strict=True)
    ]
    scales = [quantized(rng, 0.01, 0.1) for _ in range(2)]
    if rng.random() < 0.2:
        scales[1]["zero_points"] = (0,)
    typical = scales[0]["scales"][0] * scales[1]["scales"][0] * np.sqrt(depth) * 90 * 90
    constant = int(rng.integers(4))
    operands = [
        tensor(
            shape=shape,
            **scale,
            data=rng.integers(-128, 128, shape).astype(np.int8) if at == constant else None,
        )
        for at, (shape, scale) in enumerate(zip(shapes, scales, strict=True))
    ]
    op = tflite_builder.Operator(
        code="BATCH_MATMUL",
        inputs=(0, 1),
        outputs=(2,),
        table="BatchMatMulOptions",
        options={"AdjX": adjoint[0], "AdjY": adjoint[1]},
    )
    model = tflite_builder.Model(
        tensors=(
            *operands,
            tensor(shape=(*result, rows, columns), **quantized(rng, typical / 200, typical / 20)),
        ),
        operators=(op,),
        inputs=tuple(at for at in range(2) if at != constant),
        outputs=(2,),
    )
    equals_tflm(model, rng)


@seeded(400)
def test_fully_connected_of_a_computed_filter(
    seed: int, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """The filter has a zero point of its own, and either operand may be a constant, not both."""
    rng, tensor = np.random.default_rng(5000 + seed), tflite_builder.Tensor
    leading = tuple(int(size) for size in rng.integers(1, 4, int(rng.integers(0, 3))))
    rows, depth, outputs = (int(rng.integers(1, most)) for most in (6, 20, 9))
    keep = bool(leading) and bool(rng.integers(2))
    source, filters = quantized(rng, 0.005, 0.1), quantized(rng, 0.005, 0.1)
    spread = source["scales"][0] * filters["scales"][0] * np.sqrt(depth) * 70 * 70
    target = quantized(rng, 0.5 * spread / 127, 4 * spread / 127)
    known = np.array(rng.integers(-128, 128, (*leading, rows, depth)), np.int8)
    made = (*leading, rows, outputs) if keep else (int(np.prod((*leading, rows))), outputs)
    constant = rng.random() < 0.2
    options = {"FusedActivationFunction": int(rng.choice((0, 0, 1, 3))), "KeepNumDims": keep}
    op = tflite_builder.Operator(
        code="FULLY_CONNECTED",
        inputs=(0, 1, -1)[: int(rng.integers(2, 4))],
        outputs=(2,),
        table="FullyConnectedOptions",
        options=options,
    )
    tensors = (
        tensor(shape=known.shape, name="x", data=known if constant else None, **source),
        tensor(shape=(outputs, depth), name="filter", **filters),
        tensor(shape=made, name="y", **target),
    )
    model = tflite_builder.Model(
        tensors=tensors, operators=(op,), inputs=(1,) if constant else (0, 1), outputs=(2,)
    )
    equals_tflm(model, rng)
