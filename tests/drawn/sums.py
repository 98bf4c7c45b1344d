# SPDX-License-Identifier: Apache-2.0
"""Operators that add products or reduce dimensions."""

from dataclasses import replace
from math import prod

import numpy as np
from tests.drawn.drawing import Drawing, UnsuitableError
from tests.drawn.elements import like
from tests.drawn.file import Value


def _out(d: Drawing, shape: tuple[int, ...], x: Value, scale: float, terms: int) -> Value:
    """Return a result whose grid some of the sums leave."""
    near = x.scale * scale * 60 * np.sqrt(terms) * float(np.exp(d.rng.normal(0, 0.7)))
    return d.grid(shape, x.dtype, float(np.float32(near if x.dtype == "int8" else near / 200)))


def _filter(
    d: Drawing, shape: tuple[int, ...], axis: int, per_channel: bool = True
) -> tuple[int, Value]:
    count = shape[axis] if per_channel and d.chance(0.6) else 1
    scales = tuple(float(np.float32(d.scale() / 5)) for _ in range(count))
    value = Value(
        shape=shape,
        dtype="int8",
        scales=scales,
        zero_points=(0,) * count,
        axis=axis if count > 1 else 0,
        data=d.numbers(shape, "int8"),
    )
    if value.data is not None and value.data.size > 20_000:
        raise UnsuitableError
    return d.add_constant(value), value


def _bias(d: Drawing, x: Value, weights: Value, count: int) -> int:
    """Add a bias whose scales are products, or none."""
    if d.chance(0.2):
        return -1
    dtype = "int64" if x.dtype == "int16" else "int32"
    scales = tuple(float(np.float32(np.float32(x.scale) * np.float32(s))) for s in weights.scales)
    data = d.rng.integers(-20_000, 20_000, count).astype(dtype)
    return d.add_constant(
        Value(shape=(count,), dtype=dtype, scales=scales, zero_points=(0,) * len(scales), data=data)
    )


def window(d: Drawing, sides: tuple[int, int]) -> tuple[tuple[int, int], dict[str, int], list[int]]:
    """Return a window, its options, and the extents of the result."""
    kernel = (d.number(1, 5), d.number(1, 5))
    strides = (d.number(1, 3), d.number(1, 3))
    same = d.chance(0.6)
    out = [
        -(-side // step) if same else (side - size) // step + 1
        for side, size, step in zip(sides, kernel, strides, strict=True)
    ]
    if min(out) < 1:
        raise UnsuitableError
    return kernel, {"Padding": 0 if same else 1, "StrideH": strides[0], "StrideW": strides[1]}, out


def convolution(d: Drawing) -> None:
    """CONV_2D, with groups now and then."""
    x = d.operand(ranks=(4,))
    value = d.values[x]
    batch, height, width, channels = value.shape
    kernel, options, out = window(d, (height, width))
    groups = d.one_of([n for n in (1, 1, 1, 2, 3, 4) if channels % n == 0])
    filters = groups * d.number(1, 6)
    weights, filter_ = _filter(d, (filters, *kernel, channels // groups), 0)
    bias = _bias(d, value, filter_, filters)
    terms = prod(filter_.shape[1:])
    result = _out(d, (batch, *out, filters), value, filter_.scales[0], terms)
    clamp = d.one_of((0, 0, 1, 3))
    d.result(
        "CONV_2D",
        [x, weights, bias],
        [result],
        "Conv2DOptions",
        **options,
        DilationHFactor=1,
        DilationWFactor=1,
        FusedActivationFunction=clamp,
    )


def depthwise(d: Drawing) -> None:
    """DEPTHWISE_CONV_2D with one to three filters for each channel."""
    x = d.operand(ranks=(4,))
    value = d.values[x]
    batch, height, width, channels = value.shape
    kernel, options, out = window(d, (height, width))
    multiplier = d.one_of((1, 1, 1, 2, 3))
    weights, filter_ = _filter(d, (1, *kernel, channels * multiplier), 3)
    bias = _bias(d, value, filter_, channels * multiplier)
    result = _out(d, (batch, *out, channels * multiplier), value, filter_.scales[0], prod(kernel))
    d.result(
        "DEPTHWISE_CONV_2D",
        [x, weights, bias],
        [result],
        "DepthwiseConv2DOptions",
        **options,
        DepthMultiplier=multiplier,
        DilationHFactor=1,
        DilationWFactor=1,
        FusedActivationFunction=d.one_of((0, 0, 1, 3)),
    )


def transposed(d: Drawing) -> None:
    """TRANSPOSE_CONV."""
    x = d.operand(("int8",), ranks=(4,))
    value = d.values[x]
    batch, height, width, channels = value.shape
    kernel = (d.number(1, 4), d.number(1, 4))
    strides = (d.number(1, 3), d.number(1, 3))
    same = d.chance(0.5)
    out = [
        side * step if same else (side - 1) * step + max(size, step)
        for side, size, step in zip((height, width), kernel, strides, strict=True)
    ]
    filters = d.number(1, 5)
    weights, filter_ = _filter(d, (filters, *kernel, channels), 0)
    shape = (batch, *out, filters)
    result = _out(d, shape, value, filter_.scales[0], channels * prod(kernel))
    operands = [d.constant(shape), weights, x, _bias(d, value, filter_, filters)]
    d.result(
        "TRANSPOSE_CONV",
        operands if operands[-1] >= 0 else operands[:3],
        [result],
        "TransposeConvOptions",
        Padding=0 if same else 1,
        StrideH=strides[0],
        StrideW=strides[1],
    )


def dense(d: Drawing) -> None:
    """FULLY_CONNECTED of any rank."""
    x = d.operand(ranks=(1, 2, 3, 4))
    value = d.values[x]
    depth, units = value.shape[-1], d.number(1, 12)
    keeps = len(value.shape) > 2 and d.chance(0.5)
    if len(value.shape) == 1:
        raise UnsuitableError
    weights, filter_ = _filter(d, (units, depth), 0)
    lead = value.shape[:-1] if keeps else (prod(value.shape[:-1]),)
    result = _out(d, (*lead, units), value, filter_.scales[0], depth)
    d.result(
        "FULLY_CONNECTED",
        [x, weights, _bias(d, value, filter_, units)],
        [result],
        "FullyConnectedOptions",
        KeepNumDims=keeps,
        FusedActivationFunction=d.one_of((0, 0, 1, 3)),
    )


def products(d: Drawing) -> None:
    """BATCH_MATMUL, either operand transposed now and then."""
    x = d.operand(ranks=(2, 3, 4))
    value = d.values[x]
    adj_x, adj_y = d.chance(0.3), d.chance(0.3)
    lead, rows, depth = value.shape[:-2], value.shape[-2], value.shape[-1]
    if adj_x:
        rows, depth = depth, rows
    columns = d.number(1, 8)
    other = d.grid((*lead, *((columns, depth) if adj_y else (depth, columns))), value.dtype)
    y = d.given(other)
    result = _out(d, (*lead, rows, columns), value, other.scale, depth)
    d.result("BATCH_MATMUL", [x, y], [result], "BatchMatMulOptions", AdjX=adj_x, AdjY=adj_y)


def pool(d: Drawing) -> None:
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    x = d.operand(ranks=(4,))
    value = d.values[x]
    kernel, options, out = window(d, value.shape[1:3])  # type: ignore[arg-type]
    d.result(
        d.one_of(("AVERAGE_POOL_2D", "MAX_POOL_2D")),
        [x],
        [like(value, shape=(value.shape[0], *out, value.shape[3]))],
        "Pool2DOptions",
        **options,
        FilterHeight=kernel[0],
        FilterWidth=kernel[1],
        FusedActivationFunction=d.one_of((0, 0, 1, 3)),
    )


def reduced(d: Drawing) -> None:
    """MEAN, SUM, REDUCE_MAX, REDUCE_MIN over some axes, some of them negative."""
    code = d.one_of(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"))
    x = d.operand(("int8",) if code.startswith("REDUCE") else ("int8", "int8", "int16"))
    value = d.values[x]
    rank = len(value.shape)
    axes = sorted(d.rng.permutation(rank)[: d.number(1, rank)].tolist())
    keeps = d.chance(0.5)
    shape = tuple(
        1 if axis in axes else extent
        for axis, extent in enumerate(value.shape)
        if keeps or axis not in axes
    )
    terms = prod(value.shape[axis] for axis in axes)
    result = like(value, shape=shape)
    if code in ("MEAN", "SUM"):
        near = value.scale * (terms if code == "SUM" else 1) * float(np.exp(d.rng.normal(0, 0.4)))
        result = d.grid(shape, value.dtype, near)
    told = [axis - rank if d.chance(0.3) else axis for axis in axes]
    d.result(code, [x, d.constant(told)], [result], "ReducerOptions", KeepDims=keeps)


def largest(d: Drawing) -> None:
    """ARG_MAX and ARG_MIN."""
    x = d.operand(("int8",), (2, 3, 4))
    value = d.values[x]
    axis = d.number(-len(value.shape), len(value.shape) - 1)
    shape = list(value.shape)
    del shape[axis]
    code, table = d.one_of((("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "")))
    result = Value(shape=tuple(shape), dtype="int32")
    options = {"OutputType": 2} if table else {}
    d.result(code, [x, d.constant(axis)], [result], table, **options)


def normalised(d: Drawing) -> None:
    """SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION."""
    code = d.one_of(("SOFTMAX", "SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION"))
    x = d.operand(("int8",), (2, 3, 4))
    value = d.values[x]
    grids = {
        "SOFTMAX": (1 / 256, -128),
        "LOG_SOFTMAX": (1 / 16, 127),
        "L2_NORMALIZATION": (1 / 128, 0),
    }
    scale, zero = grids[code]
    result = like(value, scales=(scale,), zero_points=(zero,))
    if code == "SOFTMAX":
        beta = d.one_of((1.0, 1.0, 0.5, 2.0))
        d.result(code, [x], [result], "SoftmaxOptions", Beta=beta)
    elif code == "L2_NORMALIZATION":
        d.result(code, [x], [result], "L2NormOptions")
    else:
        d.result(code, [x], [result])


def running(d: Drawing) -> None:
    """CUMSUM."""
    x = d.operand(("int8",), (1, 2, 3, 4))
    value = d.values[x]
    rank = len(value.shape)
    axis = d.constant(d.number(-rank, rank - 1))
    flags = {"Exclusive": d.chance(0.5), "Reverse": d.chance(0.5)}
    result = replace(d.grid(value.shape, "int8", value.scale * 3))
    d.result("CUMSUM", [x, axis], [result], "CumsumOptions", **flags)
