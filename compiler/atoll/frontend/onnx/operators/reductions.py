# SPDX-License-Identifier: Apache-2.0
"""Operators along axes: means, sums, extremes, their places, and softmax."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as, handing_on
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Grid, Part, Pending, Stored, Unfit, grid
from atoll.frontend.onnx.operators.moves import reshape_value, take_ranges
from atoll.frontend.onnx.protos import AGAIN


def _reduce(
    c: Conversion, kind: str, x: Stored, axes: Sequence[int], shape: tuple[int, ...], *, keep: bool
) -> Pending:
    x = c.emit.unfold(x)

    def emit(values: Sequence[Stored], to: Grid, activation: str) -> Stored:
        (operand,) = values
        return along(c, kind, operand, axes, shape, to, keep=keep)

    count = prod(x.shape[axis] for axis in axes) if kind == "sum" else 1
    low, high = x.range
    return Pending(
        shape=shape,
        make=lambda to, activation: c.match_types([x], to, activation, emit),
        range=(count * low, count * high),
        error=count * x.error,
    )


def along(
    c: Conversion,
    kind: str,
    x: Stored,
    axes: Sequence[int],
    shape: tuple[int, ...],
    to: Grid | None,
    *,
    keep: bool,
) -> Stored:
    """Add an operator that has the axes as an operand; without `to` its result is int32.

    A MEAN of 16 bits is one of 16 bits first, whatever grid is wanted.
    """
    if kind == "mean" and to is not None and x.require_grid().dtype == "int16" != to.dtype:
        return c.requantize(along(c, kind, x, axes, shape, x.require_grid(), keep=keep), to)
    places = sorted(x.order.index(axis) for axis in axes)
    left = [1 if at in axes else extent for at, extent in enumerate(x.shape)]
    wanted = [extent for at, extent in enumerate(left) if keep or at not in axes]
    if wanted != [*shape]:
        raise Unfit(f"makes {[*shape]} along axes {[*axes]} of {[*x.shape]}", AGAIN, "E052")
    order = x.order if keep else layout.without_axes(x.order, axes)
    options = {} if to is None else {"keep_dims": keep}
    made = layout.permute(shape, order)
    if to is None and keep:
        made = tuple(extent for at, extent in enumerate(made) if at not in places)
    held = Held(np.array(places, np.int32), "axes")
    tensor = c.emit.operator(kind, [x, held], made, to or "int32", **options)
    if to is None and keep:
        tensor = c.emit.reshape(tensor, layout.permute(shape, order))
    return Stored(tensor=tensor, shape=shape, order=order, grid=to, real=to is not None)


def axes_of(c: Conversion, node: Node) -> tuple[int, ...]:
    """Return the axes of a reduction: an attribute or an operand, all if there is neither."""
    rank = len(c.part(node, 0).shape)
    given = c.integers(node, 1) if c.has(node, 1) else node.attributes.get("axes") or ()
    if not given:
        every = not node.attributes.get("noop_with_empty_axes")
        return tuple(range(rank)) if every else ()
    return tuple(sorted({_axis(int(axis), rank) for axis in given}))


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise Unfit(f"has axis {axis} for {rank} dimensions")
    return axis % rank


def reduction(kind: str) -> Callable[[Conversion, Node], Part]:
    """Return what makes a MEAN or SUM."""

    def convert(c: Conversion, node: Node) -> Part:
        x, shape = c.stored_operand(node, wide=True), c.result(node)
        axes = axes_of(c, node)
        keep = bool(attributes_as(node, {"keepdims": 1})["keepdims"])
        return _reduce(c, kind, x, axes, shape, keep=keep) if axes else x

    return convert


def extreme(kind: str) -> Handler:
    """Return what makes a REDUCE_MAX or REDUCE_MIN, on the grid of its operand."""

    def convert(c: Conversion, node: Node) -> Part:
        x, shape = c.stored_operand(node), c.result(node)
        axes = axes_of(c, node)
        keep = bool(attributes_as(node, {"keepdims": 1})["keepdims"])
        if not axes:
            return x
        if x.require_grid().dtype == "int16":
            return _by_halves(c, kind.replace("reduce_", "") + "imum", x, axes, shape)
        value = along(c, kind, c.emit.unfold(x), axes, shape, x.require_grid(), keep=keep)
        return replace(value, real=x.real)

    return convert


def _by_halves(
    c: Conversion, kind: str, x: Stored, axes: Sequence[int], shape: tuple[int, ...]
) -> Stored:
    """Compare the two halves of each axis until one place is left; the middle may be in both."""
    for axis in axes:
        while (extent := x.shape[axis]) > 1:
            half = (extent + 1) // 2
            parts = []
            for first in (0, extent - half):
                ranges = [range(each) for each in x.shape]
                ranges[axis] = range(first, first + half)
                parts.append(take_ranges(c, x, ranges))
            made = c.emit.stored_shape(parts[0])
            x = replace(parts[0], tensor=c.emit.operator(kind, parts, made, x.require_grid()))
    return reshape_value(c, x, shape)


def place_of(kind: str) -> Handler:
    """Return what makes an ARG_MAX or ARG_MIN; its result is int32 instead of int64."""

    def convert(c: Conversion, node: Node) -> Part:
        x, shape = c.emit.unfold(c.stored_operand(node)), c.result(node)
        found = attributes_as(node, {"axis": 0, "keepdims": 1, "select_last_index": 0})
        if found["select_last_index"]:
            raise Unfit("takes the last of equal values", "export it without select_last_index")
        axis = _axis(found["axis"], len(x.shape))
        return along(c, kind, x, (axis,), shape, None, keep=bool(found["keepdims"]))

    return convert


mean = reduction("mean")

_SHARES = {"softmax": grid("int8", 1 / 256, -128), "log_softmax": grid("int8", 1 / 16, 127)}
_FINE_SHARES = {
    "softmax": grid("int16", 1 / 65536, -(2**15)),
    "log_softmax": grid("int16", 1 / 4096, 2**15 - 1),
}
_WIDE_SHARES = grid("int16", 1 / 32768, 0)
"""Of SOFTMAX of 16 bits, which is up to 36 of these steps off."""

_LEAST_RATIO = 0.55
"""How fine a grid may be, in steps of TFLite's: rounding twice then is at most a step off."""

_LEAST_WIDE_RATIO = 0.85


def softmax(kind: str) -> Handler:
    """Return what makes a SOFTMAX or LOG_SOFTMAX on a grid that TFLite prescribes.

    Grids that are finer than that of 8 bits are reached through 16 bits.
    """

    def convert(c: Conversion, node: Node) -> Part:
        x = c.stored_operand(node, wide=True)
        axis = _axis(attributes_as(node, {"axis": -1})["axis"], len(x.shape))
        x = c.emit.unfold(x)
        x = c.emit.in_order(x, layout.last(x.order, axis))
        options = {"beta": 1.0} if kind == "softmax" else {}

        def make(to: Grid, activation: str) -> Stored:
            shares = _shares(kind, x.require_grid(), to)
            return c.requantize(c.unary(x, kind, shares, **options), to)

        return Pending(shape=x.shape, make=make, own=_SHARES[kind], rounds=True, error=2 * x.error)

    return convert


def _shares(kind: str, x: Grid, to: Grid) -> Grid:
    """Return the grid from which a result is brought to the one that is wanted."""
    if x.dtype == "int16" and kind == "softmax":
        if to.scale < _LEAST_WIDE_RATIO * _SHARES[kind].scale:
            message = f"has 16 bits, and a result of scale {to.scale:g}"
            raise Unfit(message, "quantise the result with scale 1/256, or the operand with 8 bits")
        return _WIDE_SHARES
    coarse = to.scale >= _LEAST_RATIO * _SHARES[kind].scale
    return (_SHARES if coarse else _FINE_SHARES)[kind]


HANDLERS = {
    "ArgMax": place_of("arg_max"),
    "ArgMin": place_of("arg_min"),
    "LogSoftmax": softmax("log_softmax"),
    "ReduceMax": handing_on(extreme("reduce_max")),
    "ReduceMin": handing_on(extreme("reduce_min")),
    "ReduceSum": reduction("sum"),
    "Softmax": softmax("softmax"),
}
