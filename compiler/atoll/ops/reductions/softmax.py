# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX of int8 over the last dimension, in gemmlowp's fixed point.

A number "Qi" has i integer bits and 31 - i fractional bits in an int32.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import (
    Operand,
    add,
    binary,
    cast,
    minimum,
    multiply,
    select,
    subtract,
)
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ir.tir import Call, Expr, Lowered, Operation, PrimFunc, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT8_MIN,
    INT32_MAX,
    INT32_MIN,
    LIMITS,
    Integers,
    mbqm,
    near,
    quantize_multiplier,
    rdbp,
    scale_of,
    srdhm,
    zero_point_of,
)
from atoll.ops.reductions.by_row import ByRow, greatest_of
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm
from atoll.resolve.storage_scope import GLOBAL

INPUT_INTEGER_BITS = 5
SUM_INTEGER_BITS = 12
GREATEST_DEPTH = (1 << SUM_INTEGER_BITS) - 1
OUTPUTS = {"int8": (1 / 256, INT8_MIN), "int16": (1 / 65536, -(2**15))}
"""Scale and zero point of results by their type."""

# exp(-2**(index - 2)) in Q0, applied where that bit of the distance is set.
EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
EXP_MINUS_EIGHTH, ONE_THIRD = 1895147668, 715827883
FORTY_EIGHT_17THS, MINUS_THIRTY_TWO_17THS = 1515870810, -1010580540


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"beta": float(options.Beta())}


class Softmax(ByRow):
    """SOFTMAX; `beta` multiplies the input."""

    tflite = TfliteForm(code="SOFTMAX", table="SoftmaxOptions", fields={0: 4}, read=_options)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an output whose scale and zero point are those of its type."""
        checks.apply(_RULES, op, graph)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep wider results apart from the input."""
        return super().overlap(op, graph) if _bits(op, graph) == 8 else (None,)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute the softmax of each row."""
        multiplier, shift, least = scaling_of(op, require_input(op, graph, 0))
        values = np.asarray(inputs[0], np.int64)
        distances = values - values.max(axis=-1, keepdims=True)
        counted = distances >= least
        powers = exp_on_negative_values(mbqm(np.maximum(distances, least), multiplier, shift))
        terms = np.where(counted, rdbp(powers, SUM_INTEGER_BITS), 0)
        inverse, exponent = reciprocal(terms.sum(axis=-1, keepdims=True))
        (output,) = graph.results(op)
        least_share, greatest_share = LIMITS[output.dtype]
        shares = rdbp(srdhm(inverse, powers), exponent + 31 - _bits(op, graph)) + least_share
        result = np.where(counted, np.minimum(shares, greatest_share), least_share)
        return (result.astype(output.dtype),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Compute each exponential once and keep it."""
        source = graph.tensor(op.inputs[0])
        depth = source.shape[-1]
        least, greatest_share = LIMITS[graph.results(op)[0].dtype]
        builder = KernelBuilder(op, graph)
        x = builder.input(0, "x")
        table = builder.table("exponentials", exponentials(*scaling_of(op, source)))
        y = builder.output()
        powers = builder.allocate("powers", Type.I32, depth, scope=GLOBAL)
        with builder.loop("row", 0, source.elements // depth) as row:
            base = builder.let("base", multiply(row, depth))
            greatest = greatest_of(builder, x, base, depth, INT8_MIN)
            total = builder.allocate("total", Type.I32, 1)
            total[0] = 0
            with builder.loop("i", 0, depth) as i:
                power = builder.let("power", table[subtract(greatest[0], x.wide(add(base, i)))])
                powers[i] = power
                total[0] = add(total[0], _halve(power, SUM_INTEGER_BITS - 1))
            headroom = builder.let("headroom", _call("headroom", total[0]))
            inverse = builder.let("inverse", _call("reciprocal", total[0], headroom))
            places = SUM_INTEGER_BITS + 31 - _bits(op, graph) - 1
            doubled = builder.let("doubled", minimum(subtract(places, headroom), 31))
            with builder.loop("i", 0, depth) as i:
                high = cast(loops.rounded_high_half(inverse, powers[i]), Type.I32)
                share = add(_halve(high, doubled), least)
                y[add(base, i)] = minimum(share, greatest_share)
        return builder.lowered(LIBRARY)


def _bits(op: Operator, graph: Graph) -> int:
    """Return the bits of a result."""
    return 8 * ITEM_BYTES[graph.results(op)[0].dtype]


def exponentials(multiplier: int, shift: int, least: int) -> Integers:
    """Return e**-d in Q0 by the distance d = 0..255 of an element from its row's greatest."""
    distances = -np.arange(1 << 8, dtype=np.int64)
    scaled = mbqm(np.maximum(distances, least), multiplier, shift)
    return np.where(distances >= least, exp_on_negative_values(scaled), 0)


def scaling_of(op: Operator, x: Tensor) -> tuple[int, int, int]:
    """Return what `input_scaling` does, for an operator that reads `x`."""
    beta = op.attributes["beta"]
    assert isinstance(beta, float)
    return input_scaling(beta * scale_of(x))


def input_scaling(real: float) -> tuple[int, int, int]:
    """Return (multiplier, shift) that bring a distance to Q5, and the least one that counts."""
    factor = real * (1 << (31 - INPUT_INTEGER_BITS))
    multiplier, shift = quantize_multiplier(min(factor, INT32_MAX))
    greatest = ((1 << INPUT_INTEGER_BITS) - 1) * 2.0 ** (31 - INPUT_INTEGER_BITS - shift)
    return multiplier, shift, -math.floor(greatest)


def exp_on_negative_values(x: Integers, integer_bits: int = INPUT_INTEGER_BITS) -> Integers:
    """Return e**x in Q0 for x <= 0 in Q4 or Q5."""
    quarter = 1 << (31 - integer_bits - 2)
    rest = (x & (quarter - 1)) - quarter
    result = _exp_near_zero(rest << integer_bits)
    for index, factor in enumerate(EXP_FACTORS[: integer_bits + 2]):
        chosen = (rest - x) & (quarter << index) != 0
        result = np.where(chosen, srdhm(result, factor), result)
    return np.where(x == 0, INT32_MAX, result)


def _exp_near_zero(x: Integers) -> Integers:
    """Return e**x in Q0 for -1/4 <= x < 0 in Q0, by a Taylor series around -1/8."""
    x = x + (1 << 28)
    square = srdhm(x, x)
    cube, fourth = srdhm(square, x), srdhm(square, square)
    higher = rdbp(srdhm(rdbp(fourth, 2) + cube, ONE_THIRD) + square, 1)
    return EXP_MINUS_EIGHTH + srdhm(EXP_MINUS_EIGHTH, x + higher)


def reciprocal(total: Integers) -> tuple[Integers, Integers]:
    """Return (r, e) with 1 / total = r * 2**-e, r in Q0 and total > 0 in Q12."""
    headroom = leading_zeros(total)
    return one_over_one_plus((total << headroom) - (1 << 31)), SUM_INTEGER_BITS - headroom


def leading_zeros(x: Integers) -> Integers:
    """Return how many bits of an int32 > 0 are above its highest set one."""
    zeros: Integers = 32 - np.frexp(x.astype(np.float64))[1].astype(np.int64)
    return zeros


def one_over_one_plus(x: Integers) -> Integers:
    """Return 1 / (1 + x) in Q0, of x in Q0 from 0 on."""
    return shift_left_saturating(inverse_of_half(x), 1)


def inverse_of_half(x: Integers) -> Integers:
    """Return 2 / (1 + x) in Q2, of x in Q0 from 0 on: three Newton steps."""
    half = (x + INT32_MAX + 1) // 2
    guess = FORTY_EIGHT_17THS + srdhm(half, MINUS_THIRTY_TWO_17THS)
    for _ in range(3):
        error = (1 << 29) - srdhm(half, guess)
        guess = guess + shift_left_saturating(srdhm(guess, error), 2)
    return guess


def shift_left_saturating(x: Integers, places: int | Integers) -> Integers:
    """Shift int32 values to the left; what leaves the range stays at its end."""
    moved: Integers = np.clip(x << places, INT32_MIN, INT32_MAX)
    return moved


def _depth(op: Operator, graph: Graph) -> Iterator[Fault]:
    x = require_input(op, graph, 0)
    if not 1 <= (x.shape or (0,))[-1] <= GREATEST_DEPTH:
        message = f"has shape {list(x.shape)}; the last dimension may be 1 to {GREATEST_DEPTH}"
        yield checks.fault(op, message, tensor=x)


def _check_scaling(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    beta = op.attributes["beta"]
    assert isinstance(beta, float)
    if not 2.0**-26 < beta * scale_of(x) < math.inf:
        message = f"beta {beta:g} times scale {scale_of(x):g} is outside 2^-26 .. infinity"
        yield checks.fault(op, message, tensor=x)
    scale, zero_point = OUTPUTS[output.dtype]
    found = scale_of(output)
    fits = near(found, scale) if output.dtype == "int16" else found == scale
    if not fits or zero_point_of(output) != zero_point:
        message = f"has scale {scale_of(output):g} and zero point {zero_point_of(output)}"
        remedy = f"quantise the output with scale 1/{round(1 / scale)} and zero point {zero_point}"
        yield checks.fault(op, message, tensor=output, remedy=remedy)


def _call(function: str, *arguments: Expr) -> Expr:
    return Call(function, arguments, Type.I32)


def _halve(x: Expr, right: Operand) -> Expr:
    """Return x >= 0 over twice 2^right, halves rounded up."""
    return binary(Operation.SHR, add(binary(Operation.SHR, x, right), 1), 1)


def _headroom_function() -> PrimFunc:
    """Count of zero bits above the highest set bit of x > 0."""
    builder = FunctionBuilder("headroom")
    rest: Expr = builder.scalar("x")
    count: Expr = subtract(31, 0)
    for step in (16, 8, 4, 2, 1):
        large = builder.let("large", binary(Operation.LE, 1 << step, rest))
        count = builder.let("count", subtract(count, multiply(cast(large, Type.I32), step)))
        rest = builder.let("rest", select(large, binary(Operation.SHR, rest, step), rest))
    return builder.function(count)


def _reciprocal_function() -> PrimFunc:
    """Inverse in Q0 of x in Q12 shifted up by its headroom."""
    builder = FunctionBuilder("reciprocal")
    x, headroom = builder.scalar("x"), builder.scalar("headroom")
    fraction = builder.let("fraction", add(binary(Operation.SHL, x, headroom), INT32_MIN))
    return _inverse_of_one_plus(builder, fraction)


def _one_over_one_plus_function() -> PrimFunc:
    """Inverse in Q0 of 1 + x, of x in Q0."""
    builder = FunctionBuilder("one_over_one_plus")
    return _inverse_of_one_plus(builder, builder.scalar("x"))


def _inverse_of_one_plus(builder: FunctionBuilder, fraction: Expr) -> PrimFunc:
    """Finish a function with three Newton steps.

    The first guess is off by 1/17 at most, so that no step comes near to saturation.
    """
    half = builder.let("half", add(binary(Operation.SHR, fraction, 1), 1 << 30))
    guess = builder.let("guess", add(loops.srdhm(half, MINUS_THIRTY_TWO_17THS), FORTY_EIGHT_17THS))
    for _ in range(3):
        error = subtract(1 << 29, loops.srdhm(half, guess))
        guess = builder.let("guess", add(guess, multiply(loops.srdhm(guess, error), 4)))
    fits = binary(Operation.LT, guess, 1 << 30)
    return builder.function(select(fits, multiply(guess, 2), INT32_MAX))


LIBRARY: tuple[PrimFunc, ...] = (
    _headroom_function(),
    _one_over_one_plus_function(),
    _reciprocal_function(),
)

_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=("int8",), results=("int8", "int16")),
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
    _depth,
    _check_scaling,
)
