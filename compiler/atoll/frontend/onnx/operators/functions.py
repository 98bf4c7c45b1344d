# SPDX-License-Identifier: Apache-2.0
"""Functions of one real number, alone or one after the other: tables of what int8 values become."""

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Constant, Grid, Part, Pending, Stored, Unfit, grid
from atoll.frontend.onnx.operators.curves import (
    look_up,
    multiply_below_zero,
    real_operand,
    results_of,
    sigmoid,
)
from atoll.frontend.onnx.operators.elements import (
    binary,
    divide,
    make_binary,
    negate,
    power,
)
from atoll.frontend.onnx.operators.weights import uniform
from atoll.frontend.real_functions import (
    COMMON,
    RealFunction,
    after,
    error_function,
    reciprocal,
    round_results,
)

Attributes = Mapping[str, Any]
_WIDEST, _LEAST_SCALE, _PIECE = 32767, 2.0**-100, 256


def function(
    of: Callable[[Attributes], RealFunction], wide: Handler | None = None, **defaults: Any
) -> Handler:
    """Return what makes a table of a function.

    Where the operand is what another such function makes, both are one table.

    Args:
        of: the function for some attributes.
        wide: takes a node whose operand has 16 bits, None to refuse it.
        defaults: of the attributes.
    """

    def convert(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
        computes = of(attributes_as(node, defaults))
        x, before = _source(c, node, 0) or (real_operand(c, node, wide=True), None)
        if wide is not None and x.require_grid().dtype != "int8":
            return wide(c, node)
        made = _table(c, x, after(computes, before) if before else computes)
        return replace(made, exact=f"quantise '{node.inputs[0]}' to int8 or uint8")

    return convert


def with_number(
    handler: Handler, computes: Callable[[Any, Any], Any], *, every: bool = False
) -> Handler:
    """Let functions in front of and behind an operator join it where one operand is a number.

    Args:
        handler: makes the operator where both operands are stored.
        computes: it with 64 bits.
        every: whether a table takes its place too, where `handler` refuses the number.
    """

    def convert(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
        parts = [c.part(node, at) for at in range(len(node.inputs))]
        numbers = [
            uniform(part, name) if isinstance(part, Constant) else None
            for part, name in zip(parts, node.inputs, strict=True)
        ]
        if len(parts) == 2 and (shared := _share_function(c, node, handler, computes, every=every)):
            return shared
        if len(parts) != 2 or (numbers[0] is None) == (numbers[1] is None):
            return handler(c, node)
        at = numbers.index(None)
        joined = _join(computes, at, numbers[1 - at])
        if found := _source(c, node, at):
            return _table(c, found[0], after(joined, found[1]))
        x, exact = parts[at], f"quantise '{node.inputs[at]}' to int8 or uint8"
        try:
            result = handler(c, node)
        except Unfit:
            if not every or x.shape != c.result(node):
                raise
            return replace(_table(c, c.stored_operand(node, at, wide=True), joined), exact=exact)
        fits = isinstance(x, Stored) and x.real and x.require_grid().dtype == "int8"
        if not isinstance(x, Stored) or not fits or x.shape != c.result(node):
            return result
        return _with_table(c, result, x, joined) if isinstance(result, Pending) else result

    return convert


def _share_function(
    c: Conversion,
    node: Node,
    handler: Handler,
    computes: Callable[[Any, Any], Any],
    *,
    every: bool,
) -> Part | tuple[Part, ...] | None:
    """Return a function of one value where both operands are, as in x * sigmoid(x).

    It is a table of 8 bits. With 16 bits it stays an operator, whose error is that of the function.
    """
    parts = [c.part(node, at) for at in (0, 1)]
    sources = [part.of[0] for part in parts if isinstance(part, Pending) and part.of]
    if every and parts[0] == parts[1] and not isinstance(parts[0], Constant):
        sources = [c.stored_operand(node, wide=True)]
    if not sources or sources[0].shape != c.result(node):
        return None
    x = sources[0]
    left, right = (_of(c, part, x) for part in parts)
    if left is None or right is None:
        return None

    def whole(given: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(computes(left(given), right(given)))

    if x.require_grid().dtype == "int8":
        return _table(c, x, whole)
    try:
        made = handler(c, node)
    except Unfit:
        if not every:
            raise
        return _table(c, x, whole)
    assert isinstance(made, Pending)
    low, high = x.range
    values = np.linspace(low, high, 2**16)
    spread = np.abs(whole(values + x.error) - whole(values - x.error)).max()
    gates = [part for part in parts if isinstance(part, Pending) and part.of]
    rounded = sum(
        part.wide.scale / 2 + max(0.0, part.error - x.error) for part in gates if part.wide
    )
    return replace(made, error=float(spread) + rounded * max(-low, high))


def _of(c: Conversion, part: Part, x: Stored) -> RealFunction | None:
    """Return what a part computes of a value, None if it is made of something else."""
    if isinstance(part, Pending):
        if part.of is not None:
            return _clamp(part) if part.of[0] == x else None
        if (
            part.wide is None
            or x.require_grid() != part.wide
            or c.to_stored(part, "", wide=True) != x
        ):
            return None
        return np.asarray
    return np.asarray if part == x else None


def _clamp(part: Pending) -> RealFunction:
    assert part.of is not None
    return after(lambda values: values.clip(part.low, part.high), part.of[1])


def _with_table(c: Conversion, result: Pending, x: Stored, computes: RealFunction) -> Pending:
    """Let a table take the place of an operator where nothing states the grid of its result."""
    whole = _table(c, x, computes)

    def make(to: Grid, activation: str) -> Stored:
        return (whole if to == whole.own else result).make(to, activation)

    return replace(result, make=make, own=whole.own, of=whole.of)


def _join(computes: Callable[[Any, Any], Any], at: int, number: Any) -> RealFunction:
    if at == 0:
        return round_results(lambda x: computes(x, number))
    return round_results(lambda x: computes(number, x))


def _source(c: Conversion, node: Node, at: int) -> tuple[Stored, RealFunction] | None:
    """Return the value that an operand is a function of, clamped, if nothing quantises it."""
    part = c.part(node, at)
    if (
        not isinstance(part, Pending)
        or part.of is None
        or part.of[0].require_grid().dtype != "int8"
    ):
        return None
    return part.of[0], _clamp(part)


def _table(c: Conversion, x: Stored, computes: RealFunction) -> Pending:
    if x.require_grid().dtype != "int8":
        return _pieces(c, x, computes)
    greatest = float(np.fmax.reduce(np.abs(results_of(computes, x.require_grid())), initial=0.0))
    fine = greatest / _WIDEST if 0 < greatest < np.inf else 1.0
    return Pending(
        shape=x.shape,
        make=lambda to, _: look_up(c, x, computes, to),
        own=grid("int16", max(fine, _LEAST_SCALE), 0),
        of=(x, computes),
    )


def _pieces(c: Conversion, x: Stored, computes: RealFunction) -> Pending:
    """Make 256 straight pieces of a function of 16 bits, whose tables the high 8 bits choose from.

    Raises:
        Unfit: the function has no value somewhere.
    """
    own, shape = x.require_grid(), c.emit.stored_shape(x)
    coarse, reals = grid("int8", _PIECE * own.scale, 0), np.arange(-(2**15), 2**15) * own.scale
    middles = coarse.scale * np.arange(-128, 128)
    exact, before, at, behind = (
        computes(each.astype(np.float32)).astype(np.float64)
        for each in (reals, middles - coarse.scale / 2, middles, middles + coarse.scale / 2)
    )
    with np.errstate(invalid="ignore"):
        values, slopes = at / 2 + (before + behind) / 4, (behind - before) / coarse.scale
    if not all(np.isfinite(each).all() for each in (exact, values, slopes)):
        remedy = "quantise its operand to int8 or uint8"
        raise Unfit("computes with 16 bits, and has no value for some of them", remedy)
    pieces = coarse.nearest(reals).astype(np.int64) + 128
    far = reals - middles[pieces]
    flat, more = values[pieces], slopes[pieces] * far
    most = max(float(np.abs(each).max()) for each in (values, more, flat + more))
    fine, steep = (
        grid("int16", max(each / _WIDEST, _LEAST_SCALE), 0)
        for each in (most, float(np.abs(slopes).max()))
    )

    def make(to: Grid, activation: str) -> Stored:
        def of(kind: str, left: Stored, right: Stored, result: Grid) -> Stored:
            made = c.emit.operator(kind, [left, right], shape, result, activation="none")
            return replace(left, tensor=made, grid=result)

        high = c.requantize(x, coarse)
        rest = of("sub", x, c.widen(high), own)
        value, slope = (
            c.unary(high, "lookup", each, table=tuple(map(int, each.nearest(np.roll(table, 128)))))
            for each, table in ((fine, values), (steep, slopes))
        )
        return c.requantize(of("add", value, of("mul", rest, slope, fine), fine), to)

    off = np.abs(flat + more - exact).max()
    off += 2.5 * fine.scale + steep.scale / 2 * np.abs(far).max()
    moved = [computes((reals + each).astype(np.float32)) for each in (-x.error, x.error)]
    return Pending(
        shape=x.shape,
        make=make,
        range=(float(exact.min()), float(exact.max())),
        error=float(off) + max(float(np.abs(each - exact).max()) for each in moved),
    )


def _plain(computes: RealFunction, wide: Handler | None = None) -> Handler:
    return function(lambda attributes: computes, wide)


def _gelu(attributes: Attributes) -> RealFunction:
    if attributes["approximate"] == "tanh":
        root = math.sqrt(2 / math.pi)
        return round_results(lambda x: x / 2 * (1 + np.tanh(root * (x + 0.044715 * x**3))))
    return round_results(lambda x: x / 2 * (1 + error_function(x / math.sqrt(2))))


def _celu(alpha: float) -> RealFunction:
    return round_results(lambda x: np.maximum(x, 0) + np.minimum(alpha * np.expm1(x / alpha), 0))


def _elu(alpha: float) -> RealFunction:
    return round_results(lambda x: np.where(x > 0, x, alpha * np.expm1(x)))


def _selu(alpha: float, gamma: float) -> RealFunction:
    return round_results(lambda x: gamma * np.where(x > 0, x, alpha * np.expm1(x)))


def _swish(alpha: float) -> RealFunction:
    return round_results(lambda x: x / (1 + np.exp(-alpha * x)))


def _with_real_exponent(handler: Handler) -> Handler:
    """Let the exponent of a power be a real number, where the file has an integer."""

    def convert(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
        part = c.part(node, 1)
        if (
            isinstance(part, Constant)
            and part.quantization is None
            and part.values.dtype.kind in "iu"
        ):
            exponent = Constant(values=part.values.astype(np.float32))
            return c.with_operand(handler, node, exponent, at=1)
        return handler(c, node)

    return convert


def _wide_abs(c: Conversion, node: Node) -> Part:
    """Multiply what is below 0 with -1."""
    return multiply_below_zero(c, real_operand(c, node, wide=True), -1.0)


def _wide_swish(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
    """Multiply what has 16 bits with the Sigmoid of it, whose operand has a scale of its own."""
    x, scaled = real_operand(c, node, wide=True), None
    alpha = float(attributes_as(node, {"alpha": 1.0})["alpha"])
    if alpha <= 0:
        raise Unfit(f"has alpha {alpha:g}; above 0 is supported where the operand has 16 bits")
    if alpha != 1:
        product = make_binary(c, "mul", [x, Constant(values=np.array(alpha))], ("", ""), x.shape)
        scaled = c.emit_pending(
            product, grid("int16", alpha * x.require_grid().scale, 0)
        )  # the same bytes
    gate = c.with_operands(sigmoid("logistic"), node, [scaled or x], x.shape)
    assert isinstance(gate, Pending)
    computes = round_results(lambda given: 1 / (1 + np.exp(-alpha * given)))
    error = gate.error + (x.error if scaled else 0.0)
    return c.with_operands(
        HANDLERS["Mul"], node, [x, replace(gate, of=(x, computes), error=error)], x.shape
    )


def _softplus(x: Any) -> Any:
    return np.logaddexp(0, x)


HANDLERS: dict[str, Handler] = {
    "Add": with_number(binary("add"), operator.add),
    "Abs": _plain(COMMON["ABS"], _wide_abs),
    "Ceil": _plain(COMMON["CEIL"]),
    "Celu": function(lambda given: _celu(given["alpha"]), alpha=1.0),
    "Cos": _plain(COMMON["COS"]),
    "Div": with_number(divide, operator.truediv, every=True),
    "Elu": function(lambda given: _elu(given["alpha"]), alpha=1.0),
    "Erf": _plain(round_results(error_function)),
    "Exp": _plain(COMMON["EXP"]),
    "Floor": _plain(COMMON["FLOOR"]),
    "Gelu": function(_gelu, approximate="none"),
    "Log": _plain(COMMON["LOG"]),
    "Mish": _plain(round_results(lambda x: x * np.tanh(_softplus(x)))),
    "Mul": with_number(binary("mul"), operator.mul),
    "Neg": _plain(COMMON["NEG"], negate),
    "Pow": _with_real_exponent(with_number(power, np.power, every=True)),
    "Reciprocal": _plain(reciprocal),
    "Round": _plain(COMMON["ROUND"]),
    "Selu": function(
        lambda given: _selu(given["alpha"], given["gamma"]),
        alpha=1.6732632423543772,
        gamma=1.0507009873554805,
    ),
    "Sign": _plain(round_results(np.sign)),
    "Sin": _plain(COMMON["SIN"]),
    "Softplus": _plain(round_results(_softplus)),
    "Softsign": _plain(round_results(lambda x: x / (1 + np.abs(x)))),
    "Sqrt": _plain(COMMON["SQRT"]),
    "Swish": function(lambda given: _swish(given["alpha"]), _wide_swish, alpha=1.0),
    "Sub": with_number(binary("sub"), operator.sub),
    "ThresholdedRelu": function(
        lambda given: round_results(lambda x: np.where(x > given["alpha"], x, 0)), alpha=1.0
    ),
}
