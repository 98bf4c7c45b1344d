"""Loop program of SOFTMAX in gemmlowp's fixed point; the scalar functions equal `ops.softmax`."""

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, cast, clamp, maximum, multiply, select, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Call, Expr, Lowered, Operation, PrimFunc, Type
from atoll.ops.fixed_point_loops import mbqm, rdbp, srdhm
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.quantization import INT8_MAX, INT8_MIN, INT32_MAX, INT32_MIN
from atoll.ops.softmax import (
    EXP_FACTORS,
    EXP_MINUS_EIGHTH,
    FORTY_EIGHT_17THS,
    INPUT_INTEGER_BITS,
    MINUS_THIRTY_TWO_17THS,
    ONE_THIRD,
    SUM_INTEGER_BITS,
    input_scaling,
)
from atoll.resolve.storage_scope import GLOBAL


def lower_softmax(op: Operator, graph: Graph) -> Lowered:
    """Lower a softmax over the last dimension; each exponential is computed once and kept."""
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
            power = _call("exp_q5", mbqm(maximum(distance, least), multiplier, shift))
            counted = select(binary(Operation.LE, least, distance), power, 0)
            powers[i] = counted
            total[0] = add(total[0], rdbp(powers[i], SUM_INTEGER_BITS))
        headroom = builder.let("headroom", _call("headroom", total[0]))
        inverse = builder.let("inverse", _call("reciprocal", total[0], headroom))
        with builder.loop("i", 0, depth) as i:
            share = add(_call("share", inverse, powers[i], headroom), INT8_MIN)
            y[add(base, i)] = clamp(share, INT8_MIN, INT8_MAX)
    return builder.lowered()


def _call(function: str, *arguments: Expr) -> Expr:
    return Call(function, arguments, Type.I32)


def _exp_near_zero() -> PrimFunc:
    """Exponential in Q0 for -1/4 <= x < 0 in Q0."""
    builder = FunctionBuilder("exp_near_zero")
    x = builder.let("centred", add(builder.scalar("x"), 1 << 28))
    square = builder.let("square", srdhm(x, x))
    cube = builder.let("cube", srdhm(square, x))
    fourth = builder.let("fourth", srdhm(square, square))
    sixth = builder.let("sixth", srdhm(add(rdbp(fourth, 2), cube), ONE_THIRD))
    higher = builder.let("higher", rdbp(add(sixth, square), 1))
    scaled = srdhm(EXP_MINUS_EIGHTH, add(x, higher))
    return builder.function(add(scaled, EXP_MINUS_EIGHTH))


def _exp() -> PrimFunc:
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
        result = builder.let("result", select(absent, result, srdhm(result, factor)))
    return builder.function(select(binary(Operation.EQ, x, 0), INT32_MAX, result))


def _headroom() -> PrimFunc:
    """Count of zero bits above the highest set bit of x > 0."""
    builder = FunctionBuilder("headroom")
    rest: Expr = builder.scalar("x")
    count: Expr = subtract(31, 0)
    for step in (16, 8, 4, 2, 1):
        large = builder.let("large", binary(Operation.LE, 1 << step, rest))
        count = builder.let("count", subtract(count, multiply(cast(large, Type.I32), step)))
        rest = builder.let("rest", select(large, binary(Operation.SHR, rest, step), rest))
    return builder.function(count)


def _reciprocal() -> PrimFunc:
    """Inverse in Q0 of x in Q12 shifted up by its headroom: three Newton steps."""
    builder = FunctionBuilder("reciprocal")
    x, headroom = builder.scalar("x"), builder.scalar("headroom")
    fraction = builder.let("fraction", add(binary(Operation.SHL, x, headroom), INT32_MIN))
    half = builder.let("half", add(binary(Operation.SHR, fraction, 1), 1 << 30))
    guess = builder.let("guess", add(srdhm(half, MINUS_THIRTY_TWO_17THS), FORTY_EIGHT_17THS))
    for _ in range(3):
        error = subtract(1 << 29, srdhm(half, guess))
        guess = builder.let("guess", add(guess, _saturated_shift(srdhm(guess, error), 2)))
    return builder.function(_saturated_shift(guess, 1))


def _saturated_shift(x: Expr, amount: int) -> Expr:
    wide = binary(Operation.SHL, cast(x, Type.I64), amount)
    return cast(clamp(wide, INT32_MIN, INT32_MAX), Type.I32)


def _share() -> PrimFunc:
    """Product of x and the inverse of a sum that had `headroom`, in units of 1/256."""
    builder = FunctionBuilder("share")
    inverse, x, headroom = (builder.scalar(name) for name in ("inverse", "x", "headroom"))
    exponent = builder.let("exponent", subtract(SUM_INTEGER_BITS + 31 - 8, headroom))
    share = rdbp(srdhm(inverse, x), exponent)
    return builder.function(select(binary(Operation.LT, exponent, 32), share, 0))


LIBRARY: tuple[PrimFunc, ...] = (
    _exp_near_zero(),
    _exp(),
    _headroom(),
    _reciprocal(),
    _share(),
)
