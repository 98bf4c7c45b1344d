"""Functions of one real number, alone or one after the other: tables of what int8 values become."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.operators.curves import curve, looked_up, real_operand
from atoll.frontend.onnx.operators.elements import negate
from atoll.frontend.onnx.parts import Part, Pending, Unfit
from atoll.frontend.real_functions import (
    COMMON,
    RealFunction,
    after,
    error_function,
    reciprocal,
    rounded,
)

Attributes = Mapping[str, Any]


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

    def made(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
        computes = of(attributes_as(node, defaults))
        part = c.part(node, 0)
        if isinstance(part, Pending) and part.of is not None:
            x, before = part.of
            low, high = part.low, part.high
            computes = after(computes, after(lambda values: values.clip(low, high), before))
        else:
            x = real_operand(c, node)
        if x.known().dtype != "int8":
            if wide is not None:
                return wide(c, node)
            raise Unfit("computes with 16 bits", "quantise its operand to int8 or uint8")
        return Pending(
            shape=x.shape,
            make=lambda to, _: looked_up(c, x, computes, to),
            of=(x, computes),
        )

    return made


def _plain(computes: RealFunction, wide: Handler | None = None) -> Handler:
    return function(lambda attributes: computes, wide)


def _gelu(attributes: Attributes) -> RealFunction:
    if attributes["approximate"] == "tanh":
        root = math.sqrt(2 / math.pi)
        return rounded(lambda x: x / 2 * (1 + np.tanh(root * (x + 0.044715 * x**3))))
    return rounded(lambda x: x / 2 * (1 + error_function(x / math.sqrt(2))))


def _celu(alpha: float) -> RealFunction:
    return rounded(lambda x: np.maximum(x, 0) + np.minimum(alpha * np.expm1(x / alpha), 0))


def _elu(alpha: float) -> RealFunction:
    return rounded(lambda x: np.where(x > 0, x, alpha * np.expm1(x)))


def _selu(alpha: float, gamma: float) -> RealFunction:
    return rounded(lambda x: gamma * np.where(x > 0, x, alpha * np.expm1(x)))


def _softplus(x: Any) -> Any:
    return np.logaddexp(0, x)


HANDLERS: dict[str, Handler] = {
    "Abs": _plain(COMMON["ABS"], curve("abs")),
    "Ceil": _plain(COMMON["CEIL"]),
    "Celu": function(lambda given: _celu(given["alpha"]), alpha=1.0),
    "Cos": _plain(COMMON["COS"]),
    "Elu": function(lambda given: _elu(given["alpha"]), alpha=1.0),
    "Erf": _plain(rounded(error_function)),
    "Exp": _plain(COMMON["EXP"]),
    "Floor": _plain(COMMON["FLOOR"]),
    "Gelu": function(_gelu, approximate="none"),
    "Log": _plain(COMMON["LOG"]),
    "Mish": _plain(rounded(lambda x: x * np.tanh(_softplus(x)))),
    "Neg": _plain(COMMON["NEG"], negate),
    "Reciprocal": _plain(reciprocal),
    "Round": _plain(COMMON["ROUND"]),
    "Selu": function(
        lambda given: _selu(given["alpha"], given["gamma"]),
        alpha=1.6732632423543772,
        gamma=1.0507009873554805,
    ),
    "Sign": _plain(rounded(np.sign)),
    "Sin": _plain(COMMON["SIN"]),
    "Softplus": _plain(rounded(_softplus)),
    "Softsign": _plain(rounded(lambda x: x / (1 + np.abs(x)))),
    "Sqrt": _plain(COMMON["SQRT"]),
    "ThresholdedRelu": function(
        lambda given: rounded(lambda x: np.where(x > given["alpha"], x, 0)), alpha=1.0
    ),
}
