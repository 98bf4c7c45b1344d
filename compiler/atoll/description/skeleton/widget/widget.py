"""What plays the widget before there is RTL: one function for each operator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atoll.extend import Graph, Operator

Array = NDArray[Any]


def quantize(op: Operator, graph: Graph, inputs: Sequence[Array]) -> Array:
    """Return the input with the scale and zero point of the result, int8 of the same shape."""
    (source,), (target,) = graph.operands(op), graph.results(op)
    assert source is not None
    assert source.quantization is not None
    assert target.quantization is not None
    scale = source.quantization.scales[0] / target.quantization.scales[0]
    mantissa, exponent = np.frexp(scale)
    multiplier = int(np.floor(mantissa * 2**31 + 0.5))
    if multiplier == 2**31:
        multiplier, exponent = multiplier // 2, exponent + 1
    values = inputs[0].astype(np.int64) - source.quantization.zero_points[0]
    scaled = _scale(values, multiplier, int(exponent))
    made: Array = np.clip(scaled + target.quantization.zero_points[0], -128, 127).astype(np.int8)
    return made


def _scale(values: Array, multiplier: int, exponent: int) -> Array:
    """Multiply by multiplier * 2**(exponent - 31), rounded twice, as the hardware does."""
    shifted = values << max(exponent, 0)
    high = (shifted * multiplier + (1 << 30)) >> 31
    right = max(-exponent, 0)
    rest = high & ((1 << right) - 1)
    return (high >> right) + (rest > ((1 << right) - 1 >> 1) + (high < 0))
