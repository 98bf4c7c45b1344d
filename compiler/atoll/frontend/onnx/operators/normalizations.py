# SPDX-License-Identifier: Apache-2.0
"""Normalisation of rows and channels: less the mean, over the deviation."""

import math

import numpy as np
from numpy.typing import NDArray

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Constant, Grid, Part, Pending, Stored, Unfit
from atoll.frontend.onnx.operators.curves import real_operand
from atoll.frontend.onnx.operators.moves import reshape_value
from atoll.frontend.onnx.operators.weights import real_values
from atoll.ops.reductions.layer_normalization import GREATEST_ADDED, to_fixed_point

Reals = NDArray[np.float64]


def layer_normalization(c: Conversion, node: Node) -> Part:
    """Make a LAYER_NORMALIZATION of the last axis."""
    x = real_operand(c, node)
    found = attributes_as(node, {"axis": -1, "epsilon": 1e-5})
    rank, depth = len(x.shape), (x.shape or (1,))[-1]
    if not rank or found["axis"] not in (-1, rank - 1):
        raise Unfit(f"normalises from axis {found['axis']} on, not the last one alone")
    if any(c.readers(name) or name in c.file.outputs for name in node.outputs[1:] if name):
        raise Unfit("hands out means or deviations")
    factors = _parameters(c, node, 1, depth)
    offsets = _parameters(c, node, 2, depth) if c.has(node, 2) else np.zeros(depth)
    added = _deviation_offset(x, found["epsilon"], depth)
    x = c.emit.unfold(x)
    x = c.emit.in_order(x, layout.last(x.order, rank - 1))
    return Pending(
        shape=x.shape, make=lambda to, _: _make_normalization(c, x, to, factors, offsets, added)
    )


def instance_normalization(c: Conversion, node: Node) -> Part:
    """Make a LAYER_NORMALIZATION of each channel, whose values are brought side by side."""
    x, shape = real_operand(c, node), c.result(node)
    if len(shape) < 3 or shape != x.shape:
        raise Unfit(f"makes {[*shape]} of {[*x.shape]}, which is no image or sequence")
    channels, extents = shape[1], shape[2:]
    factors, offsets = (_parameters(c, node, at, channels)[:, None] for at in (1, 2))
    depth = math.prod(extents)
    added = _deviation_offset(x, attributes_as(node, {"epsilon": 1e-5})["epsilon"], depth)
    x = reshape_value(c, c.emit.plain(x), (shape[0], channels, depth))
    x = c.emit.plain(x)

    def make(to: Grid, activation: str) -> Stored:
        return reshape_value(c, _make_normalization(c, x, to, factors, offsets, added), shape)

    return Pending(shape=shape, make=make)


def _deviation_offset(x: Stored, epsilon: float, depth: int) -> int:
    """Return what a deviation gets, in squares of `depth` steps of x."""
    added = epsilon * (depth / x.require_grid().scale) ** 2
    if x.require_grid().dtype != "int8" or not 0 <= added <= GREATEST_ADDED:
        raise Unfit("has an operand of 16 bits, or one whose steps are much finer than 'epsilon'")
    return round(added)


def _make_normalization(
    c: Conversion, x: Stored, to: Grid, factors: Reals, offsets: Reals, added: int
) -> Stored:
    fixed = to_fixed_point(factors / to.scale, offsets / to.scale + to.zero_point)
    if to.dtype != "int8" or fixed is None:
        raise Unfit("has a result of 16 bits, or one whose steps are too fine for it")
    operands = [
        Held(each.astype(np.int32), role)
        for each, role in zip(fixed[:2], ("factors", "offsets"), strict=True)
    ]
    shape = c.emit.stored_shape(x)
    options = {"shift": fixed[2], "added": added}
    tensor = c.emit.operator("layer_normalization", [x, *operands], shape, to, **options)
    return Stored(tensor=tensor, shape=x.shape, order=x.order, grid=to, real=True)


def _parameters(c: Conversion, node: Node, at: int, count: int) -> Reals:
    """Return a constant operand as real numbers, so many or one for all."""
    part = c.part(node, at)
    if not isinstance(part, Constant):
        raise Unfit(f"'{node.inputs[at]}' is computed", "export it with constant parameters")
    values = real_values(part, node.inputs[at])
    if values.shape not in ((count,), (1,), ()):
        raise Unfit(f"'{node.inputs[at]}' has shape {[*values.shape]} instead of {[count]}")
    return np.broadcast_to(values, (count,)).astype(np.float64)


HANDLERS: dict[str, Handler] = {
    "InstanceNormalization": instance_normalization,
    "LayerNormalization": layer_normalization,
}
