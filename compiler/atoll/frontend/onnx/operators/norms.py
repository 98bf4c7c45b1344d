# SPDX-License-Identifier: Apache-2.0
"""Reductions by products: of all elements, and of each with itself; roots of these sums."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod, sqrt

import numpy as np

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, Handler
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Grid, Part, Pending, Stored, Unfit, grid
from atoll.frontend.onnx.operators.curves import look_up, real_operand
from atoll.frontend.onnx.operators.dense import make_matmul
from atoll.frontend.onnx.operators.elements import make_binary
from atoll.frontend.onnx.operators.moves import reshape_value, take_ranges
from atoll.frontend.onnx.operators.reductions import axes_of
from atoll.frontend.real_functions import RealFunction, round_results

_STEPS, _WIDEST = 255, 32767
_MOST_OFF = 0.1
_OFF = 0.4
"""Steps of the result that a table of roots may be off; two of them add up to less than one."""


def product(c: Conversion, node: Node) -> Part:
    """Multiply the halves of each axis until one place is left; what is between has 16 bits."""
    made: Stored | Pending = real_operand(c, node, wide=True)
    shape, axes = c.result(node), axes_of(c, node)
    for axis in axes:
        x, left = c.to_stored(made, node.inputs[0], wide=True), list[Stored]()
        made = x
        while (extent := x.shape[axis]) > 1:
            half = extent // 2
            if extent % 2:
                left.append(_part(c, x, axis, range(extent - 1, extent)))
            halves = [_part(c, x, axis, range(first, first + half)) for first in (0, half)]
            made = _product(c, halves)
            x = c.to_stored(made, node.inputs[0], wide=True)
        for other in left:
            made = _product(c, [c.to_stored(made, node.inputs[0], wide=True), other])
    if isinstance(made, Stored):
        return reshape_value(c, made, shape)
    whole = made
    return replace(
        whole,
        shape=shape,
        make=lambda to, activation: reshape_value(c, whole.make(to, activation), shape),
    )


def _part(c: Conversion, x: Stored, axis: int, places: range) -> Stored:
    ranges = [range(extent) for extent in x.shape]
    ranges[axis] = places
    return take_ranges(c, x, ranges)


def _product(c: Conversion, pair: Sequence[Stored]) -> Pending:
    return make_binary(c, "mul", pair, ("", ""), pair[0].shape)


def sum_of_squares(c: Conversion, node: Node) -> Part:
    """Multiply each row with itself by a BATCH_MATMUL."""
    squares, shape = _squares(c, node), c.result(node)
    return replace(
        squares,
        shape=shape,
        make=lambda to, activation: reshape_value(c, squares.make(to, activation), shape),
    )


def _squares(c: Conversion, node: Node) -> Pending:
    """Return sums of squares as a list of matrices of one element each."""
    x, axes = c.emit.unfold(real_operand(c, node, wide=True)), axes_of(c, node)
    if not axes:
        raise Unfit("reduces no axis", "leave it out, or name its axes")
    kept = [axis for axis in layout.plain(len(x.shape)) if axis not in axes]
    count = prod(x.shape[axis] for axis in axes)
    tensor = c.emit.in_order(x, (*kept, *axes)).tensor
    rows = prod(x.shape) // count
    row, column = (
        replace(
            c.emit.as_stored(c.emit.reshape(tensor, (rows, *extents)), x.require_grid()),
            error=x.error,
        )
        for extents in ((1, count), (count, 1))
    )
    made = make_matmul(c, row, column, (rows, 1, 1))
    assert made.range is not None
    return replace(made, range=(0.0, made.range[1]))


def norm(c: Conversion, node: Node) -> Part:
    """Look up the roots of sums of squares, the less the finer, and add them up with 16 bits."""
    squares, shape = _squares(c, node), c.result(node)
    assert squares.range is not None
    most = sqrt(squares.range[1])
    error = squares.error / (2 * most)

    def make(to: Grid, activation: str) -> Stored:
        if to.dtype != "int8":
            raise Unfit("has a result of 16 bits", "quantise the result to int8 or uint8")
        greatest = max(to.scale, min(most, (to.limits[1] + 1 - to.zero_point) * to.scale))
        off = squares.error / (2 * greatest)  # roots beyond what the result holds do not count
        if off > _MOST_OFF * to.scale:
            message = f"has an operand of 16 bits that may make {off / to.scale:.2f} steps"
            raise Unfit(f"{message}, where {_MOST_OFF} are the most", "quantise the operand")
        fine = grid("int16", greatest / _WIDEST, 0)
        total: Stored | None = None
        for end, start in _ranges(greatest, to.scale):
            sums = c.emit_pending(squares, grid("int8", end**2 / _STEPS, -128))
            share = look_up(c, sums, _root(start), fine)
            if total is not None:
                added = c.emit.operator(
                    "add", [total, share], (*share.shape,), fine, activation="none"
                )
                share = replace(share, tensor=added)
            total = share
        assert total is not None
        return reshape_value(c, c.requantize(total, to), shape)

    return Pending(shape=shape, make=make, range=(0.0, most), error=error)


def _ranges(greatest: float, step: float) -> Iterator[tuple[float, float]]:
    """Yield greatest and least root of the tables, in which half a step of a square is little."""
    while True:
        if greatest**2 < _STEPS / 2 * step**2:
            yield greatest, 0.0
            return
        least = greatest**2 / _STEPS / (4 * _OFF * step)
        yield greatest, least
        greatest = least


def _root(start: float) -> RealFunction:
    """Return how much greater a root is than where its table starts."""
    return round_results(lambda sums: np.maximum(np.sqrt(sums), start) - start)


HANDLERS: dict[str, Handler] = {
    "ReduceL2": norm,
    "ReduceProd": product,
    "ReduceSumSquare": sum_of_squares,
}
