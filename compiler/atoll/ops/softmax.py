"""SOFTMAX from int8 to int8 over the last dimension, in gemmlowp's fixed point.

A number "Qi" has i integer bits and 31 - i fractional bits in an int32.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from atoll.errors import Fault
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, cast, clamp, maximum, multiply, select, subtract
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Call, Expr, Lowered, Operation, PrimFunc, Type
from atoll.ops import checks
from atoll.ops import fixed_point_loops as loops
from atoll.ops.checks import required
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind, Rates
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    INT32_MAX,
    INT32_MIN,
    Integers,
    mbqm,
    quantize_multiplier,
    rdbp,
    scale_of,
    srdhm,
    zero_point_of,
)
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm
from atoll.resolve.storage_scope import GLOBAL

INPUT_INTEGER_BITS = 5
SUM_INTEGER_BITS = 12
GREATEST_DEPTH = (1 << SUM_INTEGER_BITS) - 1
OUTPUT_SCALE, OUTPUT_ZERO_POINT = 1 / 256, -128

# exp(-2**(index - 2)) in Q0, applied where that bit of the distance is set.
EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
EXP_MINUS_EIGHTH, ONE_THIRD = 1895147668, 715827883
FORTY_EIGHT_17THS, MINUS_THIRTY_TWO_17THS = 1515870810, -1010580540


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"beta": float(options.Beta())}


class Softmax(OperatorKind):
    """SOFTMAX; `beta` multiplies the input."""

    tflite = TfliteForm(code="SOFTMAX", table="SoftmaxOptions", fields={0: 4}, read=_options)
    rates = Rates(made=1000)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an output of scale 1/256 and zero point -128, as the specification demands."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return rows and their length; there are no multiply-accumulates to speak of."""
        x = required(op, graph, 0)
        return {"macs": 0, "rows": x.elements // x.shape[-1], "depth": x.shape[-1]}

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute the softmax of each row."""
        multiplier, shift, least = input_scaling(op, required(op, graph, 0))
        values = np.asarray(inputs[0], np.int64)
        distances = values - values.max(axis=-1, keepdims=True)
        counted = distances >= least
        powers = exp_on_negative_values(mbqm(np.maximum(distances, least), multiplier, shift))
        terms = np.where(counted, rdbp(powers, SUM_INTEGER_BITS), 0)
        inverse, exponent = reciprocal(terms.sum(axis=-1, keepdims=True))
        shares = rdbp(srdhm(inverse, powers), exponent + 31 - 8) + INT8_MIN
        result = np.where(counted, np.clip(shares, INT8_MIN, INT8_MAX), INT8_MIN)
        return (result.astype(np.int8),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place: a row is read before it is written."""
        return (0,)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Compute each exponential once and keep it."""
        source = graph.tensor(op.inputs[0])
        depth = source.shape[-1]
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        powers = builder.allocate("powers", Type.I32, depth, scope=GLOBAL)
        multiplier, shift, least = input_scaling(op, source)
        least = max(least, 2 * INT8_MIN)
        with builder.loop("row", 0, source.elements // depth) as row:
            base = builder.let("base", multiply(row, depth))
            greatest = builder.allocate("greatest", Type.I32, 1)
            greatest[0] = INT8_MIN
            with builder.loop("i", 0, depth) as i:
                greatest[0] = maximum(greatest[0], x.wide(add(base, i)))
            total = builder.allocate("total", Type.I32, 1)
            total[0] = 0
            with builder.loop("i", 0, depth) as i:
                distance = builder.let("distance", subtract(x.wide(add(base, i)), greatest[0]))
                power = _call("exp_q5", loops.mbqm(maximum(distance, least), multiplier, shift))
                counted = select(binary(Operation.LE, least, distance), power, 0)
                powers[i] = counted
                total[0] = add(total[0], loops.rdbp(powers[i], SUM_INTEGER_BITS))
            headroom = builder.let("headroom", _call("headroom", total[0]))
            inverse = builder.let("inverse", _call("reciprocal", total[0], headroom))
            with builder.loop("i", 0, depth) as i:
                share = add(_call("share", inverse, powers[i], headroom), INT8_MIN)
                y[add(base, i)] = clamp(share, INT8_MIN, INT8_MAX)
        return builder.lowered(LIBRARY)


def input_scaling(op: Operator, x: Tensor) -> tuple[int, int, int]:
    """Return (multiplier, shift) that bring a distance to Q5, and the least one that counts."""
    beta = op.attributes["beta"]
    assert isinstance(beta, float)
    factor = beta * scale_of(x) * (1 << (31 - INPUT_INTEGER_BITS))
    multiplier, shift = quantize_multiplier(min(factor, INT32_MAX))
    greatest = ((1 << INPUT_INTEGER_BITS) - 1) * 2.0 ** (31 - INPUT_INTEGER_BITS - shift)
    return multiplier, shift, -math.floor(greatest)


def exp_on_negative_values(x: Integers) -> Integers:
    """Return e**x in Q0 for x <= 0 in Q5."""
    quarter = 1 << (31 - INPUT_INTEGER_BITS - 2)
    rest = (x & (quarter - 1)) - quarter
    result = _exp_near_zero(rest << INPUT_INTEGER_BITS)
    for index, factor in enumerate(EXP_FACTORS):
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
    headroom = 32 - np.frexp(total.astype(np.float64))[1].astype(np.int64)
    fraction = (total << headroom) - (1 << 31)
    half = (fraction + INT32_MAX + 1) // 2
    guess = FORTY_EIGHT_17THS + srdhm(half, MINUS_THIRTY_TWO_17THS)
    for _ in range(3):
        error = (1 << 29) - srdhm(half, guess)
        guess = guess + _saturated(srdhm(guess, error) << 2)
    return _saturated(guess << 1), SUM_INTEGER_BITS - headroom


def _saturated(x: Integers) -> Integers:
    return np.clip(x, INT32_MIN, INT32_MAX)


def _depth(op: Operator, graph: Graph) -> Iterator[Fault]:
    x = required(op, graph, 0)
    if not 1 <= (x.shape or (0,))[-1] <= GREATEST_DEPTH:
        message = f"has shape {list(x.shape)}; the last dimension may be 1 to {GREATEST_DEPTH}"
        yield checks.fault(op, message, tensor=x)


def _scaling(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = required(op, graph, 0), graph.results(op)
    beta = op.attributes["beta"]
    assert isinstance(beta, float)
    if not 2.0**-26 < beta * scale_of(x) < math.inf:
        message = f"beta {beta:g} times scale {scale_of(x):g} is outside 2^-26 .. infinity"
        yield checks.fault(op, message, tensor=x)
    if (scale_of(output), zero_point_of(output)) != (OUTPUT_SCALE, OUTPUT_ZERO_POINT):
        message = f"has scale {scale_of(output):g} and zero point {zero_point_of(output)}"
        remedy = "quantise the output with scale 1/256 and zero point -128"
        yield checks.fault(op, message, tensor=output, remedy=remedy)


def _call(function: str, *arguments: Expr) -> Expr:
    return Call(function, arguments, Type.I32)


def _exp_near_zero_function() -> PrimFunc:
    """Exponential in Q0 for -1/4 <= x < 0 in Q0."""
    builder = FunctionBuilder("exp_near_zero")
    x = builder.let("centred", add(builder.scalar("x"), 1 << 28))
    square = builder.let("square", loops.srdhm(x, x))
    cube = builder.let("cube", loops.srdhm(square, x))
    fourth = builder.let("fourth", loops.srdhm(square, square))
    sixth = builder.let("sixth", loops.srdhm(add(loops.rdbp(fourth, 2), cube), ONE_THIRD))
    higher = builder.let("higher", loops.rdbp(add(sixth, square), 1))
    scaled = loops.srdhm(EXP_MINUS_EIGHTH, add(x, higher))
    return builder.function(add(scaled, EXP_MINUS_EIGHTH))


def _exp_function() -> PrimFunc:
    """Exponential in Q0 for x <= 0 in Q5: powers of two of the distance are factors."""
    builder = FunctionBuilder("exp_q5")
    x = builder.scalar("x")
    quarter = 1 << (31 - INPUT_INTEGER_BITS - 2)
    rest = builder.let("rest", subtract(binary(Operation.AND, x, quarter - 1), quarter))
    near = binary(Operation.SHL, rest, INPUT_INTEGER_BITS)
    result = builder.let("near", _call("exp_near_zero", near))
    left = builder.let("left", subtract(rest, x))
    for index, factor in enumerate(EXP_FACTORS):
        absent = binary(Operation.EQ, binary(Operation.AND, left, quarter << index), 0)
        result = builder.let("result", select(absent, result, loops.srdhm(result, factor)))
    return builder.function(select(binary(Operation.EQ, x, 0), INT32_MAX, result))


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
    """Inverse in Q0 of x in Q12 shifted up by its headroom: three Newton steps."""
    builder = FunctionBuilder("reciprocal")
    x, headroom = builder.scalar("x"), builder.scalar("headroom")
    fraction = builder.let("fraction", add(binary(Operation.SHL, x, headroom), INT32_MIN))
    half = builder.let("half", add(binary(Operation.SHR, fraction, 1), 1 << 30))
    guess = builder.let("guess", add(loops.srdhm(half, MINUS_THIRTY_TWO_17THS), FORTY_EIGHT_17THS))
    for _ in range(3):
        error = subtract(1 << 29, loops.srdhm(half, guess))
        guess = builder.let("guess", add(guess, _saturated_shift(loops.srdhm(guess, error), 2)))
    return builder.function(_saturated_shift(guess, 1))


def _saturated_shift(x: Expr, amount: int) -> Expr:
    wide = binary(Operation.SHL, cast(x, Type.I64), amount)
    return cast(clamp(wide, INT32_MIN, INT32_MAX), Type.I32)


def _share_function() -> PrimFunc:
    """Product of x and the inverse of a sum that had `headroom`, in units of 1/256."""
    builder = FunctionBuilder("share")
    inverse, x, headroom = (builder.scalar(name) for name in ("inverse", "x", "headroom"))
    exponent = builder.let("exponent", subtract(SUM_INTEGER_BITS + 31 - 8, headroom))
    share = loops.rdbp(loops.srdhm(inverse, x), exponent)
    return builder.function(select(binary(Operation.LT, exponent, 32), share, 0))


LIBRARY: tuple[PrimFunc, ...] = (
    _exp_near_zero_function(),
    _exp_function(),
    _headroom_function(),
    _reciprocal_function(),
    _share_function(),
)

_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.int8_activations(),
    checks.output_shape(lambda op, graph: required(op, graph, 0).shape),
    _depth,
    _scaling,
)

SOFTMAX = Softmax()
