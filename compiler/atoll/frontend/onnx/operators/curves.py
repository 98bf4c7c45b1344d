# SPDX-License-Identifier: Apache-2.0
"""Operators of one operand on each element: clamps and curves."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from atoll.frontend.onnx.conversion import ACTIVATED, Conversion, Handler, attributes_as
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import (
    Constant,
    Grid,
    Part,
    Pending,
    Stored,
    Unfit,
    finer,
    grid,
)
from atoll.frontend.onnx.operators.weights import uniform
from atoll.frontend.real_functions import RealFunction, round_results
from atoll.ops.elements.curves import LOGISTIC, TANH
from atoll.ops.elements.elementwise import VALUES


def relu(c: Conversion, node: Node) -> Part:
    """Clamp below at 0."""
    return _clamp(c, node, 0.0, np.inf)


def clip(c: Conversion, node: Node) -> Part:
    """Clamp between constants, real numbers or integers as the operand is."""
    x = c.part(node, 0)
    if isinstance(x, Stored) and not x.real:
        return _clip_integers(c, node, x)
    bounds = [-np.inf, np.inf]
    for at in (1, 2):
        if c.has(node, at):
            part = c.part(node, at)
            value = uniform(part, node.inputs[at]) if isinstance(part, Constant) else None
            if value is None or np.isnan(value):
                raise Unfit(f"bound '{node.inputs[at]}' is computed or no number")
            bounds[at - 1] = value
    if bounds[0] > bounds[1]:
        raise Unfit(f"clamps between {bounds[0]:g} and {bounds[1]:g}")
    return _clamp(c, node, *bounds)


def _clip_integers(c: Conversion, node: Node, x: Stored) -> Stored:
    """Clamp what is quantised, as exporters do that use fewer values than a type has."""
    to = x.require_grid()
    bounds = [-np.inf, np.inf]
    for at in (1, 2):
        if c.has(node, at):
            values = c.numbers(node, at)
            shift = 128 if values.dtype == np.uint8 else 0
            bounds[at - 1] = (int(values.reshape(-1)[0]) - shift - to.zero_point) * to.scale
    return c.clamp(x, *bounds)


def _clamp(c: Conversion, node: Node, low: float, high: float) -> Pending:
    part = c.part(node, 0)
    if isinstance(part, Pending):
        return part.clamp(low, high)
    x = c.stored_operand(node)
    if not x.real:
        raise Unfit("clamps integers", "put it between DequantizeLinear and QuantizeLinear")

    def make(to: Grid, activation: str) -> Stored:
        if activation == "relu" and x.require_grid().dtype == to.dtype:
            return c.unary(x, "relu", to)
        return c.clamp(c.requantize(x, to), *ACTIVATED[activation])

    return Pending(
        shape=x.shape,
        make=make,
        fuses=True,
        own=x.grid,
        range=x.range,
        error=x.error,
        low=low,
        high=high,
        of=(x, np.asarray),
    )


def leaky_relu(c: Conversion, node: Node) -> Part:
    """Make a LEAKY_RELU."""
    alpha = float(attributes_as(node, {"alpha": 0.01})["alpha"])
    return multiply_below_zero(c, real_operand(c, node, wide=True), alpha)


def multiply_below_zero(c: Conversion, x: Stored, alpha: float) -> Pending:
    """Return what is multiplied with a number where it is below 0."""

    def emit(values: Sequence[Stored], to: Grid, activation: str) -> Stored:
        (operand,) = values
        return c.unary(operand, "leaky_relu", to, alpha=alpha)

    low, high = x.range
    return Pending(
        shape=x.shape,
        make=lambda to, activation: c.match_types([x], to, activation, emit),
        range=(min(0.0, alpha * low), max(high, alpha * low)),
        error=x.error * max(1.0, abs(alpha)),
        of=(x, round_results(lambda given: np.where(given < 0, alpha * given, given))),
    )


_SIGMOIDS: dict[str, tuple[Grid, RealFunction]] = {
    "logistic": (grid("int8", 1 / 256, -128), round_results(lambda x: 1 / (1 + np.exp(-x)))),
    "tanh": (grid("int8", 1 / 128, 0), round_results(np.tanh)),
}
_WHOLE = 16384
_WIDE = grid("int16", 1 / 32768, 0)


def sigmoid(kind: str) -> Handler:
    """Return what makes a LOGISTIC or TANH, whose grid TFLite prescribes, or a table."""
    own, computes = _SIGMOIDS[kind]

    def convert(c: Conversion, node: Node) -> Part:
        x = real_operand(c, node, wide=True)
        wide = x.require_grid().dtype == "int16"

        def make(to: Grid, activation: str) -> Stored:
            if to == own and not wide:
                return c.unary(x, kind, own)
            if not wide:
                return look_up(c, x, computes, to)
            fine = c.requantize(x, finer(x.require_grid()))
            return c.requantize(c.unary(fine, kind, _WIDE), to)

        return Pending(
            shape=x.shape,
            make=make,
            own=own,
            rounds=True,
            range=(-1.0, 1.0),
            error=x.error + (_off(kind, x.require_grid().scale, computes) if wide else 0.0),
            exact=f"quantise '{node.inputs[0]}' to int8 or uint8",
            of=(x, computes),
        )

    return convert


@cache
def _off(kind: str, scale: float, computes: RealFunction) -> float:
    """Return how far a curve of 16 bits is off at most, which TFLite's table decides."""
    interpolation = {"logistic": LOGISTIC, "tanh": TANH}[kind].wide
    assert interpolation is not None
    values = np.arange(-(2**15), 2**15)
    made = interpolation.results(scale, values) * _WIDE.scale
    return float(np.abs(made - computes((values * scale).astype(np.float32))).max())


_GATE = grid("int16", 1 / 16384, 0)
"""From -2 to 2, in steps that no result of 8 bits shows."""


def _gate(c: Conversion, x: Stored, alpha: float, beta: float) -> Stored:
    """Return alpha * x + beta between 0 and 1, with 16 bits."""
    value = c.requantize(x, finer(x.require_grid()))
    for kind, number in (("mul", alpha), ("add", beta)):
        if number:
            step = grid("int16", abs(number) / _WHOLE, 0)
            held = Held(np.array([number * _WHOLE / abs(number)], np.int16), "", step.quantization)
            stored = c.emit.stored_shape(value)
            tensor = c.emit.operator(kind, [value, held], stored, _GATE, activation="none")
            value = replace(value, tensor=tensor, grid=_GATE)
    return c.clamp(value, 0.0, 1.0)


def hard_sigmoid(c: Conversion, node: Node) -> Part:
    """Make alpha * x + beta of MUL and ADD with 16 bits, between 0 and 1."""
    x, found = real_operand(c, node, wide=True), attributes_as(node, {"alpha": 0.2, "beta": 0.5})
    alpha, beta = float(found["alpha"]), float(found["beta"])
    if not (0 < alpha <= 1 and -1 <= beta <= 1):
        raise Unfit(f"has alpha {alpha:g} and beta {beta:g}; alpha is 0 to 1, beta -1 to 1")

    def make(to: Grid, activation: str) -> Stored:
        return c.requantize(_gate(c, x, alpha, beta), to)

    computes = round_results(lambda given: np.clip(alpha * given + beta, 0, 1))
    return Pending(
        shape=x.shape,
        make=make,
        range=(0.0, 1.0),
        error=x.error + 1.5 * _GATE.scale,
        of=(x, computes),
    )


def hard_swish(c: Conversion, node: Node) -> Part:
    """Make a HARD_SWISH; of 16 bits, a product with what HardSigmoid makes."""
    x = real_operand(c, node, wide=True)
    low, high = x.range
    gate = _GATE.scale if x.require_grid().dtype == "int16" else 0.0

    def make(to: Grid, activation: str) -> Stored:
        if x.require_grid().dtype == to.dtype == "int8":
            return c.unary(x, "hard_swish", to)
        factor = _gate(c, x, 1 / 6, 0.5)
        value, shape = c.requantize(x, finer(x.require_grid())), c.emit.stored_shape(x)
        fine = finer(to)
        tensor = c.emit.operator("mul", [value, factor], shape, fine, activation="none")
        return c.requantize(replace(value, tensor=tensor, grid=fine), to)

    computes = round_results(lambda given: given * np.clip(given / 6 + 0.5, 0, 1))
    return Pending(
        shape=x.shape,
        make=make,
        range=(min(-0.375, low), max(0.0, high)),
        error=1.5 * (x.error + gate * max(-low, high)),
        of=(x, computes),
    )


def look_up(c: Conversion, x: Stored, computes: RealFunction, to: Grid) -> Stored:
    """Make a table of a function, with results rounded as by onnxruntime's QuantizeLinear."""
    made = results_of(computes, x.require_grid())
    table = to.nearest(np.where(np.isnan(made), -np.inf, made))
    return c.unary(x, "lookup", to, table=tuple(map(int, table)))


def results_of(computes: RealFunction, given: Grid) -> NDArray[np.float32]:
    """Return what a function makes of all values of int8."""
    steps = (VALUES.astype(np.int64) - given.zero_point).astype(np.float32)
    with np.errstate(all="ignore"):
        return computes(steps * np.float32(given.scale))


def real_operand(c: Conversion, node: Node, *, wide: bool = False) -> Stored:
    """Return the operand of a node that computes with reals; see `Conversion.stored_operand`.

    Raises:
        Unfit: it stands for integers, or nothing states how it is quantised.
    """
    x = c.stored_operand(node, wide=wide)
    if not x.real:
        raise Unfit("computes with integers", "put it between DequantizeLinear and QuantizeLinear")
    return x


HANDLERS: dict[str, Handler] = {
    "Clip": clip,
    "HardSigmoid": hard_sigmoid,
    "HardSwish": hard_swish,
    "LeakyRelu": leaky_relu,
    "Relu": relu,
    "Sigmoid": sigmoid("logistic"),
    "Tanh": sigmoid("tanh"),
}
