# SPDX-License-Identifier: Apache-2.0
"""loom's arithmetic and the order of its weights.

It rounds once, halves up, where TensorFlow Lite for Microcontrollers rounds twice.
"""

from collections.abc import Sequence
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atoll.extend import Engine, Graph, Operator, activation_range

LANES = 8
Array = NDArray[Any]


def weights(op: Operator, graph: Graph, npu: Engine) -> Array:
    """Pack the weights: for each 8 channels, those of one input after the other."""
    matrix = _matrix(op, graph)
    channels, depth = matrix.shape
    padded = np.pad(matrix, ((0, -channels % LANES), (0, -depth % LANES)))
    return padded.reshape(-1, LANES, padded.shape[1]).transpose(0, 2, 1).astype(np.int8)


def channels(op: Operator, graph: Graph, npu: Engine) -> Array:
    """Pack bias, multiplier and shift of each channel; the input's zero point is in the bias."""
    bias, multipliers, shifts = _scaling(op, graph)
    table = np.stack([bias, multipliers, shifts, np.zeros_like(bias)], axis=1)
    table = np.pad(table, ((0, -len(table) % LANES), (0, 0)))
    table[len(bias) :, 2] = 31
    return table.astype(np.uint32).view(np.int32)


def product(op: Operator, graph: Graph, inputs: Sequence[Array]) -> Array:
    """Compute what loom does."""
    (output,) = graph.results(op)
    assert output.quantization is not None
    matrix, patches = _matrix(op, graph), _patches(op, graph, inputs[0])
    bias, multipliers, shifts = _scaling(op, graph)
    sums = patches.astype(np.int64) @ matrix.T.astype(np.int64) + bias
    sums = (sums + (1 << 31)) % (1 << 32) - (1 << 31)
    scaled = (sums * multipliers + (1 << shifts - 1)) >> shifts
    made = np.clip(scaled + output.quantization.zero_points[0], *activation_range(op, output))
    return made.astype(np.int8).reshape(output.shape)


def _matrix(op: Operator, graph: Graph) -> Array:
    """Return the weights as [channels, depth]."""
    values = graph.tensor(op.inputs[1]).array
    return values.reshape(values.shape[0], -1)


def _patches(op: Operator, graph: Graph, values: Array) -> Array:
    """Return what the window covers at each position, [positions, depth]."""
    kernel = graph.tensor(op.inputs[1]).shape
    if op.kind == "fully_connected":
        return values.reshape(-1, kernel[1])
    quantization = graph.tensor(op.inputs[0]).quantization
    assert quantization is not None
    _, rows, columns, _ = kernel
    above, below, left, right = (
        op.integer(f"pad_{side}") for side in ("top", "bottom", "left", "right")
    )
    pads = ((0, 0), (above, below), (left, right), (0, 0))
    image = np.pad(values, pads, constant_values=quantization.zero_points[0])
    down, across = op.integer("dilation_h"), op.integer("dilation_w")
    extent = ((rows - 1) * down + 1, (columns - 1) * across + 1)
    windows = np.lib.stride_tricks.sliding_window_view(image, extent, axis=(1, 2))
    windows = windows[:, :: op.integer("stride_h"), :: op.integer("stride_w")]
    taps = windows[..., ::down, ::across].transpose(0, 1, 2, 4, 5, 3)
    return taps.reshape(-1, rows * columns * values.shape[-1])


def _scaling(op: Operator, graph: Graph) -> tuple[Array, Array, Array]:
    """Return bias, multiplier of 31 bits and shift to the right of each channel."""
    image, kernel, output = (
        graph.tensor(name).quantization for name in (*op.inputs[:2], *op.outputs)
    )
    assert image is not None
    assert kernel is not None
    assert output is not None
    matrix = _matrix(op, graph).astype(np.int64)
    bias = -image.zero_points[0] * matrix.sum(axis=1)
    if len(op.inputs) > 2 and op.inputs[2]:
        bias = bias + graph.tensor(op.inputs[2]).array
    scales = np.broadcast_to(np.array(kernel.scales), len(matrix))
    pairs = [frexp(scale) for scale in image.scales[0] * scales / output.scales[0]]
    multipliers = np.array([round(fraction * (1 << 31)) for fraction, _ in pairs], np.int64)
    shifts = np.array([31 - exponent for _, exponent in pairs], np.int64)
    whole = multipliers >> 31
    return bias, multipliers >> whole, np.clip(shifts - whole, 1, 62)
