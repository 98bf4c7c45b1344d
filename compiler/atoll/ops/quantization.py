# SPDX-License-Identifier: Apache-2.0
"""Fixed-point requantisation exactly as TensorFlow Lite for Microcontrollers computes it.

Sources: `QuantizeMultiplier`, `MultiplyByQuantizedMultiplier` (double rounding) and
`CalculateActivationRangeQuantized` of TFLM; docs/operators.md says what each operator uses.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.rounding import rounds_once

Integers = NDArray[np.int64]
IntegerLike = NDArray[np.integer] | Sequence[int] | int

INT8_MIN, INT8_MAX = -128, 127
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
LIMITS = {
    "bool": (0, 1),
    "int8": (INT8_MIN, INT8_MAX),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (INT32_MIN, INT32_MAX),
}
"""The least and the greatest value of a type."""

_BOUNDS: dict[str, tuple[float | None, float | None]] = {
    "none": (None, None),
    "relu": (0.0, None),
    "relu6": (0.0, 6.0),
    "relu_n1_to_1": (-1.0, 1.0),
}
ACTIVATIONS = tuple(_BOUNDS)


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Split a factor that is >= 0 into (multiplier, shift): real ~ multiplier * 2**(shift - 31).

    Returns:
        A multiplier of 2**30 .. 2**31 - 1 and any shift >= -31; (0, 0) for 0 or less than 2**-32.
    """
    fraction, shift = math.frexp(real)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    return (multiplier, shift) if multiplier and shift >= -31 else (0, 0)


def srdhm(a: IntegerLike, b: IntegerLike) -> Integers:
    """Return the high half of 2 * a * b, rounded, of int32 values; only MIN * MIN saturates."""
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    nudged = product + np.where(product >= 0, 2**30, 1 - 2**30)
    high = np.where(nudged >= 0, nudged >> 31, -(-nudged >> 31))
    return np.minimum(high, INT32_MAX)


def rdbp(x: IntegerLike, exponent: IntegerLike) -> Integers:
    """Divide by 2**exponent, 0 <= exponent <= 31, rounding halves away from zero."""
    x, exponent = np.asarray(x, np.int64), np.asarray(exponent, np.int64)
    mask = (np.int64(1) << exponent) - 1
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))


def mbqm(x: IntegerLike, multiplier: IntegerLike, shift: IntegerLike) -> Integers:
    """Scale int32 values by multiplier * 2**(shift - 31) with two roundings.

    The three arguments broadcast. A left shift wraps to 32 bits, as the compiled kernels do.

    Args:
        x: int32 values.
        multiplier: 0 .. 2**31 - 1, from `quantize_multiplier`.
        shift: -31 .. 31.

    Returns:
        int32 values held as int64.
    """
    shift = np.asarray(shift, np.int64)
    shifted = (np.asarray(x, np.int64) << np.maximum(shift, 0)).astype(np.int32)
    return rdbp(srdhm(shifted, multiplier), np.maximum(-shift, 0))


def mbqm_once(x: IntegerLike, multiplier: IntegerLike, shift: IntegerLike) -> Integers:
    """Scale as `mbqm` does, with one rounding, halves up: the same where nothing shifts right."""
    shift = np.asarray(shift, np.int64)
    shifted = (np.asarray(x, np.int64) << np.maximum(shift, 0)).astype(np.int32)
    right = np.maximum(-shift, 0)
    product = shifted * np.asarray(multiplier, np.int64)
    scaled: Integers = (product + (np.int64(1) << (30 + right))) >> (31 + right)
    return scaled


def scaling_of(op: Operator) -> Callable[[IntegerLike, IntegerLike, IntegerLike], Integers]:
    """Return `mbqm_once` if an operator rounds once, else `mbqm`."""
    return mbqm_once if rounds_once(op) else mbqm


def reduced_multiplier(multiplier: IntegerLike) -> Integers:
    """Return the 16 bits of a multiplier by which 64-bit sums are scaled."""
    multiplier = np.asarray(multiplier, np.int64)
    return np.where(multiplier < 0x7FFF0000, (multiplier + (1 << 15)) >> 16, 0x7FFF)


def mbqm_wide(x: IntegerLike, multiplier: IntegerLike, shift: IntegerLike) -> Integers:
    """Scale int64 values as `mbqm` does int32 ones, with one rounding and half the multiplier.

    Args:
        x: less than 2**47 in magnitude.
        multiplier: 0 .. 2**31 - 1, from `quantize_multiplier`.
        shift: -31 .. 7.
    """
    places = 15 - np.asarray(shift, np.int64)
    half = np.int64(1) << (places - 1)
    scaled = (np.asarray(x, np.int64) * reduced_multiplier(multiplier) + half) >> places
    return scaled.astype(np.int32).astype(np.int64)


def mbqm_wide_once(x: IntegerLike, multiplier: IntegerLike, shift: IntegerLike) -> Integers:
    """Scale as `mbqm_wide`, with the whole multiplier: the exact product, rounded halves up."""
    x, multiplier = np.asarray(x, np.int64), np.asarray(multiplier, np.int64)
    places = 31 - np.asarray(shift, np.int64)
    low = (x & 0xFFFF) * multiplier + (np.int64(1) << (places - 1))
    scaled = ((x >> 16) * multiplier + (low >> 16)) >> (places - 16)
    return scaled.astype(np.int32).astype(np.int64)


def wide_scaling_of(op: Operator) -> Callable[[IntegerLike, IntegerLike, IntegerLike], Integers]:
    """Return `mbqm_wide_once` if an operator rounds as ONNX says, else `mbqm_wide`."""
    return mbqm_wide_once if rounds_once(op) else mbqm_wide


def scale_of(tensor: Tensor) -> float:
    """Return the scale of a tensor that is quantised as a whole."""
    assert tensor.quantization is not None, f"{tensor.name} is not quantised"
    return tensor.quantization.scales[0]


def near(scale: float, wanted: float) -> bool:
    """Tell whether TFLM takes a scale of 16 bits for a prescribed one: a thousandth off at most."""
    return abs(scale - wanted) <= wanted / 1000


def zero_point_of(tensor: Tensor) -> int:
    """Return the zero point of a tensor that is quantised as a whole."""
    assert tensor.quantization is not None, f"{tensor.name} is not quantised"
    return tensor.quantization.zero_points[0]


def activation_range(op: Operator, output: Tensor) -> tuple[int, int]:
    """Return the least and the greatest value of its type that the activation lets through."""
    low, high = _BOUNDS[str(op.attributes.get("activation", "none"))]
    scale, zero_point = np.float32(scale_of(output)), zero_point_of(output)

    def quantize(bound: float) -> int:
        with np.errstate(over="ignore"):
            ratio = max(min(float(np.float32(bound) / scale), 2.0**31), -(2.0**31))
        return zero_point + int(math.copysign(math.floor(abs(ratio) + 0.5), ratio))

    limits = np.iinfo(output.dtype)
    least, greatest = int(limits.min), int(limits.max)
    return (
        least if low is None else max(least, quantize(low)),
        greatest if high is None else min(greatest, quantize(high)),
    )


def bounds_of(op: Operator, graph: Graph) -> dict[str, int]:
    """Return the range of the fused activation by the names that formulas have."""
    (output,) = (graph.tensor(name) for name in op.outputs)
    low, high = activation_range(op, output)
    return {"activation_min": low, "activation_max": high}


def factor_values(name: str, factor: tuple[int, int]) -> dict[str, int]:
    """Return a multiplier and its shift by the names that formulas have."""
    return {f"{name}_multiplier": factor[0], f"{name}_shift": factor[1]}


def multipliers(reals: Sequence[float]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Split factors into one array of multipliers and one of shifts, as `quantize_multiplier`."""
    fractions, shifts = np.frexp(np.asarray(reals, np.float64))
    factors = np.floor(fractions * 2**31 + 0.5)
    over = factors == 2**31
    factors, shifts = np.where(over, 2**30, factors), shifts + over
    kept = (factors != 0) & (shifts >= -31)
    return np.where(kept, factors, 0).astype(np.int32), np.where(kept, shifts, 0).astype(np.int32)


def channel_factors(op: Operator, graph: Graph) -> tuple[float, ...]:
    """Return the real factor of each output channel: input scale * weight scale / output scale.

    A dense layer with one weight scale rounds the product to float32 first.
    """
    x, weights, *_ = graph.operands(op)
    (output,) = graph.results(op)
    assert x is not None
    assert weights is not None
    assert weights.quantization is not None
    channels = output.shape[-1]
    scales = weights.quantization.scales
    if op.kind == "fully_connected" and len(scales) == 1:
        with np.errstate(over="ignore", under="ignore"):
            product = float(np.float32(scale_of(x)) * np.float32(scales[0]))
        return (product / scale_of(output),) * channels
    input_scale, output_scale = scale_of(x), scale_of(output)
    factors = tuple(input_scale * scale / output_scale for scale in scales)
    return factors if len(factors) == channels else factors * channels


def channel_scaling(
    op: Operator, graph: Graph
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]:
    """Return (bias, multiplier, shift) of a convolution or a dense layer.

    Returns:
        Three arrays with one entry per output channel, of int32, or the bias's own type if it is
        int64; an absent bias is 0.
    """
    factors = channel_factors(op, graph)
    constant = graph.operands(op)[2] if len(op.inputs) > 2 else None
    bias = np.zeros(len(factors)) if constant is None else constant.array
    dtype = np.int64 if bias.dtype == np.int64 else np.int32
    return (bias.astype(dtype).reshape(-1), *multipliers(factors))
