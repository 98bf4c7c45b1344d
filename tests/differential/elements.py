# SPDX-License-Identifier: Apache-2.0
"""Elementwise kinds beside ADD, MUL and QUANTIZE, on top of what a network has."""

from math import prod

import numpy as np
from tests.differential.elementwise import BROADCAST_RANK, broadcasts, partner
from tests.differential.network import (
    GREATEST_TENSOR,
    LEAST_CLAMPED,
    MULTIPLIED,
    SHARES,
    Network,
    Quantized,
)
from tests.tflite_builder import Operator, Tensor

UNARY = ("ABS", "ELU", "HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "RELU", "RELU6", "RSQRT", "TANH")
CURVES = ("LOGISTIC", "TANH")
WIDE = ("ABS", "LEAKY_RELU", "RELU", "RELU6", *CURVES)
PAIRS = ("MAXIMUM", "MINIMUM", "PRELU", "SQUARED_DIFFERENCE")
COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
OF_TRUTHS = ("EQUAL", "NOT_EQUAL")
TRUTHS = ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT")
BOOL: Quantized = {"dtype": "bool"}
REALS = ("ABS", "CEIL", "COS", "FLOOR", "NEG", "ROUND", "SIN", "SQUARE")
OF_POSITIVE = ("LOG", "RSQRT", "SQRT")
REAL_SCALES = 1e-3, 0.05
UNIT: Quantized = {"scales": (1 / 128,), "zero_points": (0,)}


def unary(net: Network) -> bool:
    """Add a kind of one operand; RSQRT where TFLM does not end the run."""
    x = net.pick(types=MULTIPLIED)
    if x is None:
        return False
    wide = net.dtype(x) == "int16"
    code, result = net.chance.choice(WIDE if wide else UNARY), net.quantization(net.dtype(x))
    if code == "RSQRT" and net.like(x)["zero_points"] != (-128,):
        least = {"scales": net.like(x)["scales"], "zero_points": (-128,)}
        x = net.apply("QUANTIZE", (x,), net.shape(x), least)
    like = net.like(x)
    coarse = net.scale(x) / 100 < result["scales"][0]
    if code == "RELU6" or (code == "HARD_SWISH" and not coarse):
        result = like
    if code in ("RELU", "RELU6", "ELU") and result["scales"][0] < LEAST_CLAMPED:
        return False
    result = {"LOGISTIC": SHARES, "TANH": UNIT}.get(code, result)
    if wide and code in CURVES:
        result = {**like, "scales": (2.0**-15,)}
    if code == "LEAKY_RELU":
        alpha = net.chance.choice((0.0, 0.125, 0.25, 1.5, -0.5))
        net.apply(code, (x,), net.shape(x), result, "LeakyReluOptions", Alpha=alpha)
    else:
        net.apply(code, (x,), net.shape(x), result)
    return True


def pair(net: Network) -> bool:
    """Add a kind of two operands, broadcast or not."""
    code = net.chance.choice(PAIRS)
    extreme = code in ("MAXIMUM", "MINIMUM")
    x = net.pick(types=(*MULTIPLIED, "int32") if extreme else MULTIPLIED)
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    if extreme:
        alike = [
            n
            for n in net.values
            if net.like(n) == net.like(x) and broadcasts(net.shape(n), net.shape(x))
        ]
        other = net.chance.choice(alike) if net.likely(0.5) else net.constant((1,), net.like(x))
    elif code == "PRELU":
        computed = [n for n in net.known("int8") if _narrower(net.shape(n), net.shape(x))]
        other = net.constant(net.shape(x)[-1:] or (1,), net.quantization())
        if computed and net.likely(0.4):
            other = net.chance.choice(computed)
    else:
        other = partner(net, x)
    shape = np.broadcast_shapes(net.shape(x), net.shape(other))
    if prod(shape) > GREATEST_TENSOR:
        return False
    result = net.like(x) if extreme else net.quantization(net.dtype(x))
    net.apply(code, (x, other), shape, result)
    return True


def _narrower(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Tell whether the first of two shapes broadcasts to the second."""
    return broadcasts(first, second) and np.broadcast_shapes(first, second) == second


def comparison(net: Network) -> bool:
    """Compare two values, plain numbers or truth values."""
    code = net.chance.choice(COMPARISONS)
    x = net.pick(types=("int8", "int32", "bool") if code in OF_TRUTHS else ("int8", "int32"))
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    other = partner(net, x)
    shape = np.broadcast_shapes(net.shape(x), net.shape(other))
    coarse = any(scale >= 1 for n in (x, other) for scale in net.tensors[n].scales)
    if prod(shape) > GREATEST_TENSOR or coarse:
        return False
    net.apply(code, (x, other), shape, BOOL)
    return True


def logical(net: Network) -> bool:
    """Join two truth values, or turn one round."""
    x = net.pick(types=("bool",))
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    code = net.chance.choice(TRUTHS)
    operands = (x,) if code == "LOGICAL_NOT" else (x, partner(net, x))
    shape = np.broadcast_shapes(*map(net.shape, operands))
    if prod(shape) > GREATEST_TENSOR:
        return False
    net.apply(code, operands, shape, BOOL)
    return True


def selection(net: Network) -> bool:
    """Choose between a value and one that is quantised alike, by truth values that fit."""
    truth = net.pick(types=("bool",))
    if truth is None or len(net.shape(truth)) > BROADCAST_RANK:
        return False
    known = net.known(*MULTIPLIED)
    fitting = [n for n in known if broadcasts(net.shape(n), net.shape(truth))]
    x = net.chance.choice(fitting) if fitting else net.constant((1,), net.quantization())
    shape = np.broadcast_shapes(net.shape(truth), net.shape(x))
    alike = [
        n
        for n in net.known(net.dtype(x))
        if net.like(n) == net.like(x) and broadcasts(net.shape(n), shape)
    ]
    other = (
        net.chance.choice(alike) if alike and net.likely(0.6) else net.constant((1,), net.like(x))
    )
    shape = np.broadcast_shapes(shape, net.shape(other))
    if prod(shape) > GREATEST_TENSOR:
        return False
    operands = (truth, x, other) if net.likely(0.5) else (truth, other, x)
    net.apply("SELECT_V2", operands, shape, net.like(x))
    return True


def decision(net: Network) -> bool:
    """Compare, join what that tells with other truths, and choose by it."""
    return comparison(net) and logical(net) and selection(net)


def cast(net: Network) -> bool:
    """Take stored numbers or truth values for those of another type."""
    x = net.pick(types=("bool", "int8", "int16", "int32"))
    if x is None:
        return False
    dtype = net.chance.choice(("bool", "int8", "int16", "int32"))
    net.apply("CAST", (x,), net.shape(x), net.plain_or_quantized(dtype))
    return True


def real(net: Network) -> bool:
    """Add functions of real numbers between DEQUANTIZE and QUANTIZE, which may read two of them."""
    x, result = net.pick(), net.quantization()
    low, high = REAL_SCALES
    if x is None or not low < net.scale(x) < high or not low < result["scales"][0]:
        return False
    codes = net.chance.sample(REALS, net.chance.randrange(4))
    if net.likely(0.4):  # what is not a number, or none that int32 holds, TFLM makes anything of
        codes = [*net.chance.sample(("NEG", "ABS"), 1), "EXP", *net.chance.sample(OF_POSITIVE, 1)]
    y = _real(net, "DEQUANTIZE", x)
    for code in codes:
        z = y
        y = _real(net, code, y)
        if net.likely(0.1):
            net.apply("QUANTIZE", (z,), net.shape(x), result)
    net.apply("QUANTIZE", (y,), net.shape(x), result)
    return True


def _real(net: Network, code: str, x: int) -> int:
    """Add an operator whose result is real, which only this step reads."""
    result = net.add(Tensor(shape=net.shape(x), dtype="float32"))
    net.operators.append(Operator(code=code, inputs=(x,), outputs=(result,)))
    return result
