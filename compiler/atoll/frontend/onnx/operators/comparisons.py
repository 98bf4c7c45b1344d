# SPDX-License-Identifier: Apache-2.0
"""Comparisons of real numbers, as exact as float32 is, and what combines truth values."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, Handler
from atoll.frontend.onnx.emitter import Operand
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Constant, Grid, Part, Stored, Unfit, grid
from atoll.frontend.onnx.operators.elements import align, truth
from atoll.frontend.onnx.operators.weights import real_values
from atoll.ops.elements.elementwise import VALUES

_SWAPPED = {
    "equal": "equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "less": "greater",
    "less_equal": "greater_equal",
}
_RANKS = grid("int16", 1.0, 0)


def comparison(kind: str) -> Handler:
    """Return what compares two operands as integers of 32 bits, which are in the same order."""

    def convert(c: Conversion, node: Node) -> Part:
        left, right = (_operand(c, node, at) for at in (0, 1))
        if isinstance(left, Stored) and isinstance(right, Stored):
            return _result(c, node, kind, _rank(c, left, right))
        if isinstance(right, Stored):
            return _with_constant(c, node, _SWAPPED[kind], right, left, node.inputs[0])
        return _with_constant(c, node, kind, left, right, node.inputs[1])

    return convert


def _operand(c: Conversion, node: Node, at: int) -> Stored | Constant:
    part = c.part(node, at)
    if isinstance(part, Constant):
        return part
    x = c.stored_operand(node, at)
    if not x.real:
        raise Unfit("compares integers", "put it between DequantizeLinear and QuantizeLinear")
    return x


def _with_constant(
    c: Conversion, node: Node, kind: str, x: Stored | Constant, constant: Part, name: str
) -> Stored:
    if not isinstance(x, Stored) or not isinstance(constant, Constant):
        raise Unfit("has no operand that is computed", "simplify the model")
    numbers = real_values(constant, name).astype(np.float32)
    if np.isnan(numbers).any():
        raise Unfit(f"compares with '{name}', which is not a number")
    bounds = Constant(values=_bounds(kind, x.require_grid(), numbers))
    return _result(c, node, kind, [x, bounds])


def _reals(of: Grid) -> NDArray[np.float32]:
    """Return what all values of a type stand for, the least first, as DequantizeLinear does."""
    least, most = of.limits
    steps = (np.arange(least, most + 1) - of.zero_point).astype(np.float32)
    return np.asarray(steps * np.float32(of.scale))


def _bounds(kind: str, of: Grid, numbers: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the integers that are compared with in the place of real numbers."""
    reals = _reals(of)
    below, upto = (np.searchsorted(reals, numbers, side) for side in ("left", "right"))
    places = below if kind in ("greater_equal", "less") else upto - 1
    if kind == "equal":
        places = np.where(below < upto, below, len(reals))  # no value is that
    return (places + of.limits[0]).astype(np.int32)


def _rank(c: Conversion, left: Stored, right: Stored) -> list[Stored]:
    """Return two operands as they are, or as their ranks among the values of both.

    Raises:
        Unfit: their grids differ, and one has 16 bits.
    """
    grids = [left.require_grid(), right.require_grid()]
    if grids[0] == grids[1]:
        return [left, right]
    if any(each.dtype != "int8" for each in grids):
        remedy = "quantise both to int8 or uint8, or both alike"
        raise Unfit("compares values on two grids, one of 16 bits", remedy)
    reals = np.array([_reals(each) for each in grids])
    ranks = np.unique(reals, return_inverse=True)[1].reshape(reals.shape)
    at = VALUES.astype(np.int64) - grids[0].limits[0]
    return [
        c.unary(x, "lookup", _RANKS, table=tuple(map(int, each[at])))
        for x, each in zip((left, right), ranks, strict=True)
    ]


def _integer(c: Conversion, x: Operand) -> Operand:
    if not isinstance(x, Stored) or x.grid is None:
        return x
    tensor = c.emit.operator("cast", [x], c.emit.stored_shape(x), "int32")
    return replace(x, tensor=tensor, grid=None, real=False)


def logic(kind: str) -> Handler:
    """Return what combines truth values."""

    def convert(c: Conversion, node: Node) -> Part:
        return _result(c, node, kind, [truth(c, node, at) for at in range(len(node.inputs))])

    return convert


def _result(c: Conversion, node: Node, kind: str, parts: Sequence[Stored | Constant]) -> Stored:
    shape = c.result(node)
    if all(isinstance(part, Constant) for part in parts):
        raise Unfit("has no operand that is computed", "simplify the model")
    operands, order = align(c, parts, shape)
    plain = [_integer(c, each) for each in operands]
    tensor = c.emit.operator(kind, plain, layout.permute(shape, order), "bool")
    return Stored(tensor=tensor, shape=shape, order=order, grid=None, real=False)


HANDLERS: dict[str, Handler] = {
    "And": logic("logical_and"),
    "Equal": comparison("equal"),
    "Greater": comparison("greater"),
    "GreaterOrEqual": comparison("greater_equal"),
    "Less": comparison("less"),
    "LessOrEqual": comparison("less_equal"),
    "Not": logic("logical_not"),
    "Or": logic("logical_or"),
}
