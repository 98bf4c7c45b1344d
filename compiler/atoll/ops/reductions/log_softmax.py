# SPDX-License-Identifier: Apache-2.0
"""LOG_SOFTMAX of int8 over the last dimension, in gemmlowp's fixed point, as SOFTMAX.

TFLite's results are int8, of scale 1/16. Results of 16 bits have the same bits and eight more;
networks that demand finer steps than TFLite's get them.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import (
    Operand,
    add,
    binary,
    maximum,
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
    quantize_multiplier,
    rdbp,
    scale_of,
    srdhm,
    zero_point_of,
)
from atoll.ops.reductions.by_row import ByRow
from atoll.ops.reductions.softmax import (
    GREATEST_DEPTH,
    INPUT_INTEGER_BITS,
    LIBRARY,
    SUM_INTEGER_BITS,
    exponentials,
    input_scaling,
    leading_zeros,
    one_over_one_plus,
    shift_left_saturating,
)
from atoll.ops.tflite_form import TfliteForm

OUTPUTS = {"int8": (1 / 16, 127), "int16": (1 / 4096, 2**15 - 1)}
"""Scale and zero point of results by their type: 16 below 0 is the least."""

LEAST_SCALE = 2.0**-25
_RANGE_BITS = 4

# The logarithm's constants in Q0, and its exponents of 2 in Q6.
_LOG_2, _ROOT_HALF, _FOURTH_ROOT_HALF = 1488522236, 1518500250, 1805811301
_HALF = (_FOURTH_ROOT_HALF + 1) // 2
_ALPHA_N, _ALPHA_D, _ALPHA_I, _ALPHA_F = 117049297, 127690142, 1057819769, 638450708
_EXPONENT_BITS = INPUT_INTEGER_BITS + 1
_EXPONENT_ONE = 31 - _EXPONENT_BITS
_QUARTER = 1 << _EXPONENT_ONE - 2


class LogSoftmax(ByRow):
    """LOG_SOFTMAX (TFLM: `LogSoftmaxQuantized`)."""

    tflite = TfliteForm(code="LOG_SOFTMAX")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an output of scale 1/16 and zero point 127, as TFLM demands, or 16 bits."""
        checks.apply(_RULES, op, graph)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep wider results apart from the input."""
        same = graph.results(op)[0].dtype == "int8"
        return super().overlap(op, graph) if same else (None,)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take the logarithm of each row's sum from its distances."""
        scale = scale_of(require_input(op, graph, 0))
        powers, scaled = _tables(scale)
        values = np.asarray(inputs[0], np.int64)
        distances = values.max(axis=-1, keepdims=True) - values
        logarithm = log_of(powers[distances].sum(axis=-1, keepdims=True))
        (output,) = graph.results(op)
        least, greatest = LIMITS[output.dtype]
        results = rdbp(scaled[distances] - logarithm, _shift(output)) + greatest
        counted = -distances > _least(scale, logarithm)
        clamped = np.clip(results, least, greatest)
        return (np.where(counted, clamped, least).astype(output.dtype),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Look distances up in tables."""
        source = graph.tensor(op.inputs[0])
        depth, (powers, scaled) = source.shape[-1], _tables(scale_of(source))
        multiplier, shift, nearest = _reverse_scaling(scale_of(source))
        (output,) = graph.results(op)
        limits = LIMITS[output.dtype]
        builder = KernelBuilder(op, graph)
        x = builder.input(0, "x")
        power_of = builder.table("powers", powers)
        scaled_of = builder.table("distances", scaled)
        y = builder.output()
        with builder.loop("row", 0, source.elements // depth) as row:
            base = builder.let("base", multiply(row, depth))
            greatest, total = (
                builder.allocate(name, Type.I32, 1) for name in ("greatest", "total")
            )
            greatest[0], total[0] = INT8_MIN, 0
            with builder.loop("i", 0, depth) as i:
                greatest[0] = maximum(greatest[0], x.wide(add(base, i)))
            top = builder.let("top", greatest[0])
            with builder.loop("i", 0, depth) as i:
                total[0] = add(total[0], power_of[subtract(top, x.wide(add(base, i)))])
            sum_of = builder.let("sum", total[0])
            zeros = builder.let("zeros", Call("headroom", (sum_of,), Type.I32))
            logarithm = builder.let("log", Call("log", (sum_of, zeros), Type.I32))
            reach = loops.mbqm(add(logarithm, INT32_MIN), multiplier, shift)
            most = builder.let("most", subtract(0, maximum(reach, nearest - 1)))
            with builder.loop("i", 0, depth) as i:
                distance = builder.let("distance", subtract(top, x.wide(add(base, i))))
                result = loops.rdbp(subtract(scaled_of[distance], logarithm), _shift(output))
                made = loops.quantize(result, limits[1], limits)
                y[add(base, i)] = select(binary(Operation.LT, distance, most), made, limits[0])
        return builder.lowered((*LIBRARY, LOG))


def _shift(output: Tensor) -> int:
    """Return by how many places Q5 is shifted to the steps of a result."""
    return 31 - INPUT_INTEGER_BITS - (8 * ITEM_BYTES[output.dtype] - _RANGE_BITS)


def _tables(scale: float) -> tuple[Integers, Integers]:
    """Return e**-d in Q12, and -d in Q5, by the distance d from a row's greatest."""
    multiplier, shift, least = input_scaling(scale)
    distances = -np.arange(1 << 8, dtype=np.int64)
    powers = rdbp(exponentials(multiplier, shift, least), SUM_INTEGER_BITS)
    return powers, mbqm(distances, multiplier, shift)


def _reverse_scaling(scale: float) -> tuple[int, int, int]:
    """Return (multiplier, shift) that bring Q5 to a distance, and the least one that counts."""
    multiplier, shift, least = input_scaling(scale)
    return (*quantize_multiplier((1 << (31 - shift)) / multiplier), least)


def _least(scale: float, logarithm: Integers) -> Integers:
    multiplier, shift, least = _reverse_scaling(scale)
    return np.maximum(mbqm(logarithm + INT32_MIN, multiplier, shift), least - 1)


def log_of(x: Integers) -> Integers:
    """Return the logarithm in Q5 of x >= 1 in Q12 (TFLM: `log_x_for_x_greater_than...`)."""
    zeros = leading_zeros(x)
    first = shift_left_saturating(srdhm(x << zeros - 1, _ROOT_HALF), 1)
    first_exponent = (SUM_INTEGER_BITS - zeros << _EXPONENT_ONE) + _QUARTER
    room = leading_zeros(srdhm(x, _ROOT_HALF)) - 1
    second = shift_left_saturating(x, room)
    second_exponent = (SUM_INTEGER_BITS - room << _EXPONENT_ONE) - _QUARTER
    r, exponent = np.minimum(first, second), np.maximum(first_exponent, second_exponent)
    p, q = (r >> 1) + _HALF, 2 * (r - _FOURTH_ROOT_HALF)
    square = srdhm(q, q)
    numerator = srdhm(q, r) + srdhm(srdhm(q, square), _ALPHA_N)
    inner = _ALPHA_I + q + srdhm(_ALPHA_D, square)
    inverse = one_over_one_plus(srdhm(p, inner) + srdhm(_ALPHA_F, q))
    rest = srdhm(rdbp(numerator, _EXPONENT_BITS), inverse)
    return shift_left_saturating(srdhm(exponent, _LOG_2) + rest, 1)


def _log_function() -> PrimFunc:
    """`log_of` one value, given its leading zeros."""
    builder = FunctionBuilder("log")
    x, zeros = builder.scalar("x"), builder.scalar("zeros")

    def exponent_of(count: Expr, quarter: int) -> Expr:
        whole = binary(Operation.SHL, subtract(SUM_INTEGER_BITS, count), _EXPONENT_ONE)
        return add(whole, quarter)

    def up(value: Expr, places: Operand) -> Expr:
        value = builder.let("value", value)
        most = binary(Operation.SHR, INT32_MAX, places)
        fits = binary(Operation.LE, value, most)
        return builder.let("up", select(fits, binary(Operation.SHL, value, places), INT32_MAX))

    first = up(loops.srdhm(binary(Operation.SHL, x, subtract(zeros, 1)), _ROOT_HALF), 1)
    lower = builder.let("lower", loops.srdhm(x, _ROOT_HALF))
    room = builder.let("room", subtract(Call("headroom", (lower,), Type.I32), 1))
    r = builder.let("r", minimum(first, up(x, room)))
    exponents = (exponent_of(zeros, _QUARTER), exponent_of(room, -_QUARTER))
    exponent = builder.let("exponent", maximum(*exponents))
    p = builder.let("p", add(binary(Operation.SHR, r, 1), _HALF))
    q = builder.let("q", multiply(subtract(r, _FOURTH_ROOT_HALF), 2))
    square = builder.let("square", loops.srdhm(q, q))
    small = loops.srdhm(loops.srdhm(q, square), _ALPHA_N)
    numerator = builder.let("numerator", add(loops.srdhm(q, r), small))
    inner = builder.let("inner", add(q, loops.srdhm(_ALPHA_D, square), _ALPHA_I))
    denominator = add(loops.srdhm(p, inner), loops.srdhm(_ALPHA_F, q))
    inverse = builder.let("inverse", Call("one_over_one_plus", (denominator,), Type.I32))
    rest = loops.srdhm(loops.rdbp(numerator, _EXPONENT_BITS), inverse)
    return builder.function(up(add(loops.srdhm(exponent, _LOG_2), rest), 1))


LOG = _log_function()


def _check_scaling(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    if not 1 <= (x.shape or (0,))[-1] <= GREATEST_DEPTH:
        message = f"has shape {list(x.shape)}; the last dimension may be 1 to {GREATEST_DEPTH}"
        yield checks.fault(op, message, tensor=x)
    if scale_of(x) < LEAST_SCALE:
        yield checks.fault(op, f"has scale {scale_of(x):g}, the least is 2^-25", tensor=x)
    scale, zero_point = OUTPUTS[output.dtype]
    if (scale_of(output), zero_point_of(output)) != (scale, zero_point):
        message = f"has scale {scale_of(output):g} and zero point {zero_point_of(output)}"
        remedy = f"quantise the output with scale 1/{round(1 / scale)} and zero point {zero_point}"
        yield checks.fault(op, message, tensor=output, remedy=remedy)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=("int8",), results=("int8", "int16")),
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
    _check_scaling,
)

LOG_SOFTMAX = LogSoftmax()
