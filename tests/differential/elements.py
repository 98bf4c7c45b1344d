"""Elementwise kinds beside ADD, MUL and QUANTIZE, on top of what a network has."""

from math import prod

import numpy as np
from tests.differential.elementwise import BROADCAST_RANK, partner
from tests.differential.network import GREATEST_TENSOR, LEAST_CLAMPED, SHARES, Network, Quantized
from tests.tflite_builder import Operator, Tensor

UNARY = ("ABS", "ELU", "HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "RELU", "RELU6", "RSQRT", "TANH")
PAIRS = ("MAXIMUM", "MINIMUM", "PRELU", "SQUARED_DIFFERENCE")
COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
TRUTHS = ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT")
UNIT: Quantized = {"scales": (1 / 128,), "zero_points": (0,)}


def unary(net: Network) -> bool:
    """Add a kind of one operand; RSQRT where TFLM does not end the run."""
    x = net.pick()
    if x is None:
        return False
    code, result = net.chance.choice(UNARY), net.quantization()
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
    if code == "LEAKY_RELU":
        alpha = net.chance.choice((0.0, 0.125, 0.25, 1.5, -0.5))
        net.apply(code, (x,), net.shape(x), result, "LeakyReluOptions", Alpha=alpha)
    else:
        net.apply(code, (x,), net.shape(x), result)
    return True


def pair(net: Network) -> bool:
    """Add a kind of two operands, broadcast or not."""
    x = net.pick()
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    code = net.chance.choice(PAIRS)
    if code in ("MAXIMUM", "MINIMUM"):
        alike = [
            n for n in net.values if net.shape(n) == net.shape(x) and net.like(n) == net.like(x)
        ]
        other = net.chance.choice(alike) if net.likely(0.5) else net.constant((1,), net.like(x))
    elif code == "PRELU":
        other = net.constant(net.shape(x)[-1:] or (1,), net.quantization())
    else:
        other = partner(net, x)
    shape = np.broadcast_shapes(net.shape(x), net.shape(other))
    if prod(shape) > GREATEST_TENSOR:
        return False
    result = net.like(x) if code in ("MAXIMUM", "MINIMUM") else net.quantization()
    net.apply(code, (x, other), shape, result)
    return True


def chosen(net: Network) -> bool:
    """Compare two values, perhaps turn that round, and choose or count by it."""
    x = net.pick()
    if x is None or len(net.shape(x)) > BROADCAST_RANK or net.scale(x) >= 1:
        return False
    other = partner(net, x)
    shape = np.broadcast_shapes(net.shape(x), net.shape(other))
    if prod(shape) > GREATEST_TENSOR or net.scale(other) >= 1:
        return False
    truth = _truth(net, net.chance.choice(COMPARISONS), (x, other), shape)
    if net.likely(0.5):
        code = net.chance.choice(TRUTHS)
        truth = _truth(net, code, (truth,) if code == "LOGICAL_NOT" else (truth, truth), shape)
    if net.likely(0.3):
        net.apply("CAST", (truth,), shape, net.quantization())
    else:
        constant = net.constant((1,), net.like(x))
        operands = (truth, x, constant) if net.likely(0.5) else (truth, constant, x)
        shape = np.broadcast_shapes(shape, net.shape(constant))
        net.apply("SELECT_V2", operands, shape, net.like(x))
    return True


def _truth(net: Network, code: str, inputs: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """Add an operator that makes truth values, which only this step reads."""
    result = net.add(Tensor(shape=shape, dtype="bool"))
    net.operators.append(Operator(code=code, inputs=inputs, outputs=(result,)))
    return result
