# SPDX-License-Identifier: Apache-2.0
"""QuantizeLinear and DequantizeLinear: where real numbers begin and end."""

from dataclasses import replace

import numpy as np

from atoll.frontend.onnx.conversion import SURROUND, Conversion, constant_of
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Constant, Part, Pending, Unfit

_MOST_OFF = 0.9
"""Steps that 16 bits in between may make: what is less than a step off rounds to a neighbour."""
_LESS_OFF = 0.99 * _MOST_OFF
"""So that rounding in a message does not take a remedy below the bound."""


def quantize(c: Conversion, node: Node) -> Part:
    """State the grid of a result, or change it."""
    part = c.part(node, 0)
    if isinstance(part, Constant):
        raise Unfit("quantises a constant that is too large to be computed here")
    grid = c.grid_of(node)
    if isinstance(part, Pending):
        if part.error >= _MOST_OFF * grid.scale:
            steps = f"{part.error / grid.scale:.1f} steps of {grid.scale:g}"
            message = f"'{node.inputs[0]}' is computed with 16 bits and may be {steps} off"
            remedy = f"choose a scale of {part.error / _LESS_OFF:.3g} or more"
            raise Unfit(message, f"{remedy}, or {part.exact or SURROUND}")
        return replace(c.emit_pending(part, grid), real=False)
    if not part.real:
        raise Unfit(f"'{node.inputs[0]}' is quantised already")
    return replace(c.requantize(part, grid), real=False)


def dequantize(c: Conversion, node: Node) -> Part:
    """Let integers stand for real numbers."""
    part = c.part(node, 0)
    if isinstance(part, Constant):
        values = part.values
        if part.quantization is not None or values.dtype.kind not in "iu":
            raise Unfit(f"'{node.inputs[0]}' has no integers")
        dtype, quantization = c.quantization_of(node, values.dtype.name)
        if values.dtype.name not in (dtype, "uint8"):
            raise Unfit(f"'{node.inputs[0]}' has type {values.dtype.name}, its zero point {dtype}")
        if values.dtype == np.int32 and any(quantization.zero_points):
            raise Unfit(f"'{node.inputs[0]}' is int32 with a zero point other than 0")
        return constant_of(values, quantization)
    if isinstance(part, Pending) or part.real:
        raise Unfit(f"'{node.inputs[0]}' is float already")
    if c.grid_of(node) != part.grid:
        message = f"'{node.inputs[0]}' was quantised with another scale, zero point or type"
        raise Unfit(message, "quantise the model again", "E056")
    return replace(part, real=True)


HANDLERS = {"QuantizeLinear": quantize, "DequantizeLinear": dequantize}
