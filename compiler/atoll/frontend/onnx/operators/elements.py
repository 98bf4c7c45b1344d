# SPDX-License-Identifier: Apache-2.0
"""Operators of several operands on each element: sums, products, extremes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, Handler
from atoll.frontend.onnx.emitter import Held, Operand
from atoll.frontend.onnx.layout import Order
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import (
    Constant,
    Grid,
    Part,
    Pending,
    Stored,
    Unfit,
    broadcast,
    grid,
)
from atoll.frontend.onnx.operators.curves import multiply_below_zero
from atoll.frontend.onnx.operators.weights import real_values, uniform
from atoll.frontend.onnx.protos import AGAIN
from atoll.ir.graph import Quantization

_GREATEST = 127
_GREATEST_OF_16, _LEAST = 32767, 2.0**-100


def binary(kind: str) -> Callable[[Conversion, Node], Part]:
    """Return what makes an ADD, SUB or MUL of two operands."""

    def convert(c: Conversion, node: Node) -> Part:
        return _bias(c, node, kind) or _pair(c, node, kind, [_either(c, node, at) for at in (0, 1)])

    return convert


def total(c: Conversion, node: Node) -> Part:
    """Make an ADD of all operands, two by two; what is between has 16 bits."""
    if len(node.inputs) == 2:
        return binary("add")(c, node)
    parts = sorted(
        ((c.part(node, at), name) for at, name in enumerate(node.inputs)),
        key=lambda each: isinstance(each[0], Constant),
    )
    made, name = parts[0]
    for part, other in parts[1:]:
        if isinstance(made, Constant):
            raise Unfit("has no operand that is computed", "simplify the model")
        pair: list[Stored | Constant] = [c.to_stored(made, name, wide=True)]
        pair.append(part if isinstance(part, Constant) else c.to_stored(part, other, wide=True))
        shape = broadcast(made.shape, part.shape)
        made = make_binary(c, "add", pair, (name, other), shape)
    return made


def average(c: Conversion, node: Node) -> Part:
    """Divide the sum of all operands by how many there are."""
    share = Constant(values=np.array(1 / len(node.inputs)))
    whole = c.to_stored(total(c, node), node.outputs[0], wide=True)
    return make_binary(c, "mul", [whole, share], (node.outputs[0], ""), whole.shape)


def divide(c: Conversion, node: Node) -> Part:
    """Multiply by the inverse of a constant that is the same everywhere."""
    right = c.part(node, 1)
    if not isinstance(right, Constant):
        message, remedy = "divides by what is computed", "leave the quotient to the application"
        raise Unfit(message, f"divide by a constant, or {remedy}")
    value = uniform(right, node.inputs[1])
    if value is None:
        message = "divides by numbers that differ from element to element"
        raise Unfit(message, "multiply by their inverses, quantised per tensor")
    if not value:
        raise Unfit("divides by 0")
    return _pair(
        c, node, "mul", [c.stored_operand(node, wide=True), Constant(values=np.array(1 / value))]
    )


def negate(c: Conversion, node: Node) -> Part:
    """Multiply by -1."""
    return _pair(
        c, node, "mul", [c.stored_operand(node, wide=True), Constant(values=np.array(-1.0))]
    )


def power(c: Conversion, node: Node) -> Part:
    """Multiply an operand with itself."""
    right = c.part(node, 1)
    if not isinstance(right, Constant):
        raise Unfit("has an exponent that is computed", "write a constant")
    exponent = uniform(right, node.inputs[1])
    if exponent is None:
        message = "has exponents that differ from element to element"
        raise Unfit(message, "write a power for each, or one exponent for all")
    if exponent != 2:
        raise Unfit("has another exponent than 2", "write the power as products")
    x = c.stored_operand(node, wide=True)
    return _pair(c, node, "mul", [x, x])


def prelu(c: Conversion, node: Node) -> Part:
    """Make a PRELU, whose slopes are quantised per tensor, or LEAKY_RELU where they are alike."""
    slopes = c.part(node, 1)
    if not isinstance(slopes, Constant):
        raise Unfit(f"slopes '{node.inputs[1]}' are computed")
    x, shape = c.stored_operand(node, wide=True), c.result(node)
    if slopes.quantization is None:
        slope = uniform(slopes, node.inputs[1])
        if slope is not None and np.isfinite(slope):
            return multiply_below_zero(c, x, slope)
        slopes = _slopes(slopes, node.inputs[1])

    def emit(values: Sequence[Stored], to: Grid, activation: str) -> Stored:
        operands, order = align(c, [*values, slopes], shape)
        return _result(c, "prelu", operands, shape, order, to)

    steepest = max(1.0, float(np.abs(real_values(slopes, node.inputs[1])).max()))
    low, high = x.range
    most = max(high, steepest * -low)
    return Pending(
        shape=shape,
        make=lambda to, activation: c.match_types([x], to, activation, emit),
        range=(-most, most),
        error=x.error * steepest,
    )


def _slopes(part: Constant, name: str) -> Constant:
    """Quantise real slopes per tensor."""
    values = real_values(part, name)
    greatest = float(np.abs(values).max(initial=0.0))
    scale = float(np.float32(greatest / _GREATEST)) if np.isfinite(greatest) else 0.0
    if not scale:
        raise Unfit(f"slopes '{name}' are not finite, or too small")
    return Constant(
        values=np.rint(values / scale).astype(np.int8),
        quantization=Quantization(scales=(scale,), zero_points=(0,)),
    )


def _bias(c: Conversion, node: Node, kind: str) -> Pending | None:
    """Return sums of products with the constant that is added to them, None if it is not that."""
    parts = [c.part(node, at) for at in (0, 1)]
    for at, part in enumerate(parts):
        other = parts[1 - at]
        if not isinstance(part, Pending) or not isinstance(other, Constant) or not part.biased:
            continue
        channels, rank = part.shape[part.channels], len(part.shape)
        shape = (1,) * (rank - len(other.shape)) + other.shape
        wide = [axis for axis, extent in enumerate(shape) if extent != 1]
        if kind == "mul" or (kind == "sub" and at == 1) or len(shape) != rank:
            return None
        if wide in ([], [part.channels]):
            values = real_values(other, node.inputs[1 - at]).reshape(-1)
            sign = -1 if kind == "sub" else 1
            return replace(part.biased(sign * np.broadcast_to(values, channels)), node=part.node)
    return None


def _either(c: Conversion, node: Node, at: int) -> Stored | Constant:
    part = c.part(node, at)
    return part if isinstance(part, Constant) else c.stored_operand(node, at, wide=True)


def _pair(c: Conversion, node: Node, kind: str, given: Sequence[Stored | Constant]) -> Pending:
    shape, first = c.result(node), next((each for each in given if isinstance(each, Stored)), None)
    if first is None:
        raise Unfit("has no operand that is computed", "simplify the model")
    names = (*node.inputs, "")
    return make_binary(c, kind, given, [names[at] for at in (0, 1)], shape)


def make_binary(
    c: Conversion,
    kind: str,
    given: Sequence[Stored | Constant],
    names: Sequence[str],
    shape: tuple[int, ...],
) -> Pending:
    """Return the ADD, SUB or MUL of two operands, of which one is stored."""
    parts = list[Stored | Constant]()
    for part, name in zip(given, names, strict=True):
        plain = isinstance(part, Constant) and part.quantization is None
        parts.append(_exact(part, name) if plain and isinstance(part, Constant) else part)
    stored = [part for part in parts if isinstance(part, Stored)]

    def emit(values: Sequence[Stored], to: Grid, activation: str) -> Stored:
        brought = iter(values)
        typed = [
            next(brought) if isinstance(part, Stored) else _quantize_constant(part, to.dtype)
            for part in parts
        ]
        operands, order = align(c, typed, shape)
        return _result(c, kind, operands, shape, order, to, activation=activation)

    (low, high), (least, most) = (
        _span(part, name) for part, name in zip(parts, names, strict=True)
    )
    errors = [part.error if isinstance(part, Stored) else 0.0 for part in parts]
    error = sum(errors)
    corners = [low + least, high + most]
    if kind == "sub":
        corners = [low - most, high - least]
    if kind == "mul":
        corners = [first * second for first in (low, high) for second in (least, most)]
        error = errors[0] * max(-least, most) + errors[1] * max(-low, high)
    return Pending(
        shape=shape,
        make=lambda to, activation: c.match_types(stored, to, activation, emit),
        fuses=True,
        range=(min(corners), max(corners)),
        error=error,
    )


def _span(part: Stored | Constant, name: str) -> tuple[float, float]:
    if isinstance(part, Stored):
        return part.range
    values = real_values(part, name)
    return float(values.min()), float(values.max())


def _quantize_constant(part: Constant, dtype: str) -> Constant:
    """Return a constant that is quantised as a whole with 8 or 16 bits."""
    to = part.require_grid()
    if to.dtype == dtype or dtype != "int16":
        return part
    values = part.values.astype(np.int16) - np.int16(to.zero_point)
    return Constant(values=values, quantization=replace(to.quantization, zero_points=(0,)))


def _exact(part: Constant, name: str) -> Constant:
    """Quantise a float constant that is the same everywhere, as exactly as float32 can.

    Raises:
        Unfit: its values differ.
    """
    value = uniform(part, name)
    if value is None or not np.isfinite(value):
        raise Unfit(f"operand '{name}' is float", "quantise the constants of the network too")
    scale = abs(value) / _GREATEST if value else 1.0
    if not np.float32(scale) > 0:
        raise Unfit(f"operand '{name}' is {value:g}, which is too small")
    number = np.array(np.sign(value) * _GREATEST, np.int8)
    return Constant(
        values=number,
        quantization=Quantization(scales=(float(np.float32(scale)),), zero_points=(0,)),
    )


def in_16_bits(values: NDArray[np.float64]) -> Constant:
    """Return real numbers as a constant, as exactly as 16 bits can."""
    to = grid("int16", max(float(np.abs(values).max()) / _GREATEST_OF_16, _LEAST), 0)
    return Constant(values=to.nearest(values), quantization=to.quantization)


def align(
    c: Conversion, parts: Sequence[Stored | Constant], shape: Sequence[int]
) -> tuple[list[Operand], Order]:
    """Return operands of as many dimensions as the result, and in one order; and that order.

    Args:
        c: the conversion.
        parts: constants are quantised per tensor, or truth values or int32.
        shape: of the result.
    """
    rank = len(shape)
    if any(len(part.shape) > rank for part in parts):
        raise Unfit(f"has operands of more dimensions than its result {[*shape]}")
    wide: list[Stored | Constant] = []
    for part in parts:
        if isinstance(part, Stored):
            part = c.emit.unfold(part)
            extents = (1,) * (rank - len(part.shape))
            tensor = c.emit.reshape(part.tensor, (*extents, *c.emit.stored_shape(part)))
            order = layout.with_axes(part.order, rank)
            part = replace(part, tensor=tensor, order=order, shape=(*extents, *part.shape))
        wide.append(part)
    stored = [part for part in wide if isinstance(part, Stored)]
    order = max(stored, key=lambda part: c.emit.tensor(part.tensor).elements).order
    return [_order(c, part, order, rank) for part in wide], order


def _order(c: Conversion, part: Stored | Constant, order: Order, rank: int) -> Operand:
    if isinstance(part, Stored):
        return c.emit.in_order(part, order)
    values = part.values.reshape((1,) * (rank - part.values.ndim) + part.values.shape)
    if part.quantization is None and values.dtype in (np.bool_, np.int32):
        return Held(values.transpose(order), "compared")
    part.require_grid()
    return Held(values.transpose(order), "", part.quantization)


def _result(
    c: Conversion,
    kind: str,
    operands: Sequence[Operand],
    shape: tuple[int, ...],
    order: Order,
    to: Grid,
    **attributes: str,
) -> Stored:
    stored = layout.permute(shape, order)
    tensor = c.emit.operator(kind, operands, stored, to, **attributes)
    return Stored(tensor=tensor, shape=shape, order=order, grid=to, real=True)


def extremes(kind: str) -> Handler:
    """Return what makes a MAXIMUM or MINIMUM of two or more operands, all on the result's grid."""

    def convert(c: Conversion, node: Node) -> Part:
        shape = c.result(node)
        parts = [c.part(node, at) for at in range(len(node.inputs))]
        make = partial(_chain, c, node, kind, parts, shape)
        return pending_result(parts, node.inputs, shape, make)

    return convert


def _chain(
    c: Conversion,
    node: Node,
    kind: str,
    parts: Sequence[Part],
    shape: tuple[int, ...],
    to: Grid,
    activation: str,
) -> Stored:
    brought = [on_grid(c, part, name, to) for part, name in zip(parts, node.inputs, strict=True)]
    total, *others = sorted(brought, key=lambda part: isinstance(part, Constant))
    if isinstance(total, Constant):
        raise Unfit("has no operand that is computed", "simplify the model")
    for other in others:
        try:
            extents = broadcast(total.shape, other.shape)
        except ValueError as fault:
            raise Unfit(
                f"has operands that do not broadcast to {[*shape]}", AGAIN, "E052"
            ) from fault
        operands, order = align(c, [total, other], extents)
        total = _result(c, kind, operands, extents, order, to)
    return total


def choice(c: Conversion, node: Node) -> Part:
    """Make a SELECT_V2 of a condition that is constant, or that a comparison makes."""
    shape, condition = c.result(node), truth(c, node, 0)
    parts, names = [c.part(node, at) for at in (1, 2)], node.inputs[1:]
    if all(isinstance(part, Constant) for part in parts):
        raise Unfit("has no operand that is computed", "simplify the model")

    def make(to: Grid, activation: str) -> Stored:
        brought = [on_grid(c, part, name, to) for part, name in zip(parts, names, strict=True)]
        operands, order = align(c, [condition, *brought], shape)
        return _result(c, "select_v2", operands, shape, order, to)

    return pending_result(parts, names, shape, make)


def truth(c: Conversion, node: Node, at: int) -> Stored | Constant:
    """Return an operand of truth values."""
    part = c.part(node, at)
    if isinstance(part, Pending) or (
        isinstance(part, Stored) and c.emit.tensor(part.tensor).dtype != "bool"
    ):
        raise Unfit(f"'{node.inputs[at]}' holds no truth values", AGAIN, "E052")
    return part


def pending_result(
    parts: Sequence[Part],
    names: Sequence[str],
    shape: tuple[int, ...],
    make: Callable[[Grid, str], Stored],
) -> Pending:
    """Return what hands on values of several parts, on the grid that is stated behind it."""
    spans = [
        part.span if isinstance(part, Pending) else _span(part, name)
        for part, name in zip(parts, names, strict=True)
    ]
    known = [span for span in spans if span is not None]
    whole = (min(low for low, _ in known), max(high for _, high in known)) if known else None
    errors = [0.0 if isinstance(part, Constant) else part.error for part in parts]
    return Pending(
        shape=shape,
        make=make,
        own=common_grid(parts),
        range=whole if len(known) == len(spans) else None,
        error=max(errors),
    )


def common_grid(parts: Sequence[Part]) -> Grid | None:
    """Return the grid on which all values lie, None if there is no such one."""
    first, *others = (
        part.grid
        if isinstance(part, Stored)
        else part.lies_on
        if isinstance(part, Pending)
        else None
        for part in parts
    )
    return first if all(other == first for other in others) else None


def on_grid(c: Conversion, part: Part, name: str, to: Grid) -> Stored | Constant:
    """Return an operand on a grid; constants are rounded to it."""
    if isinstance(part, Pending):
        return c.emit_pending(part, to)
    if isinstance(part, Stored):
        return c.requantize(part, to)
    return Constant(values=to.nearest(real_values(part, name)), quantization=to.quantization)


HANDLERS: dict[str, Handler] = {
    "Max": extremes("maximum"),
    "Mean": average,
    "Min": extremes("minimum"),
    "PRelu": prelu,
    "Sum": total,
    "Where": choice,
}
