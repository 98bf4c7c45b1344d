# SPDX-License-Identifier: Apache-2.0
"""Means, sums and maxima of windows as depthwise convolutions whose weights are all 1.

TFLite divides the sum of a window by its taps, halves away from zero. A multiplier that is a
little above 2**31 / taps does the same by one rounding: it takes halves past the middle, and
other quotients lie too far from it, as long as 2 * 128 * taps**2 is less than 2**31. MEAN and SUM
scale sums as their reference does.
"""

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Operator
from atoll.ops.quantization import INT8_MIN, channel_scaling, zero_point_of
from atoll.ops.reductions.sums import ScaledSum
from atoll.ops.registry import kind_of
from atoll_sim.engines.reef.geometry import POOLS, Geometry, operand

MOST_TAPS = 53 * 53
"""Taps of the largest window whose mean is exact; `reef.yaml` limits its sides."""


def scale_of_mean(taps: int) -> tuple[int, int]:
    """Return (multiplier, shift) that make the mean of 1 to `MOST_TAPS` int8 values of their sum.

    Returns:
        What `atoll.ops.quantization.mbqm` and the requantisers of reef take.
    """
    return (2**30, 1) if taps == 1 else (2**31 // taps + 1, 0)


def weights_of(op: Operator, graph: Graph, shape: Geometry, lanes: int) -> NDArray[np.int8]:
    """Return the weights: int8 [O, ...] as the model has them, or of one block of a pool."""
    if shape.uniform:
        return np.ones((1, *shape.kernel, lanes), np.int8)
    return operand(op, graph, 1).array.astype(np.int8)


def scaling_of(
    op: Operator, graph: Graph, shape: Geometry, lanes: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return (bias, multiplier, shift) of each output channel, or of one block of a pool."""
    if not shape.uniform:
        return channel_scaling(op, graph)
    kind, taps = kind_of(op), 1 if shape.greatest else shape.kernel[0] * shape.kernel[1]
    factor = kind.scaling(op, graph) if isinstance(kind, ScaledSum) else scale_of_mean(taps)
    values = (INT8_MIN if shape.greatest else 0, *factor)
    bias, *scale = (np.full(lanes, value, np.int32) for value in values)
    return bias, scale[0], scale[1]


def zero_points(op: Operator, graph: Graph) -> tuple[int, int]:
    """Return the zero points of input and output; a pool keeps what its input has."""
    if op.kind in POOLS:
        return 0, 0
    return zero_point_of(operand(op, graph, 0)), zero_point_of(graph.results(op)[0])
