# SPDX-License-Identifier: Apache-2.0
"""L2_NORMALIZATION of rows: each value over the root of the sum of the row's squares."""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, maximum, multiply, select, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Call, Expr, Lowered, Operation, PrimFunc, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    INT32_MAX,
    Integers,
    mbqm,
    rdbp,
    scale_of,
    srdhm,
    zero_point_of,
)
from atoll.ops.reductions.by_row import ByRow
from atoll.ops.reductions.softmax import LIBRARY, leading_zeros, shift_left_saturating
from atoll.ops.tflite_form import TfliteForm, only_activation

OUTPUT_BITS = 7
"""The result's scale is 2 to the power of less that."""

GREATEST_DEPTH = INT32_MAX // 255**2
_ROOT_SHIFT = 11
_ONE, _THREE_HALVES = 1 << 28, 3 << 27
"""In Q3, a fixed point of 3 integer bits."""

_HALF_ROOT_TWO = 1518500250
_STEPS = 5


class L2Normalization(ByRow):
    """L2_NORMALIZATION over the last dimension (TFLM: `L2Normalization` of integers)."""

    tflite = TfliteForm(
        code="L2_NORMALIZATION",
        table="L2NormOptions",
        may_lack_table=True,
        fields={0: 1},
        read=only_activation,
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 and a result of scale 1/128 and zero point 0, without an activation."""
        checks.apply(_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Scale each row by one multiplier."""
        values = np.asarray(inputs[0], np.int64) - zero_point_of(require_input(op, graph, 0))
        multiplier, shift = inverse_root((values * values).sum(axis=-1, keepdims=True))
        scaled = mbqm(values, multiplier, OUTPUT_BITS - shift)
        return (np.clip(scaled, INT8_MIN, INT8_MAX).astype(np.int8),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Sum the squares of each row, then scale it."""
        source = graph.tensor(op.inputs[0])
        depth, zero = source.shape[-1], zero_point_of(source)
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        with builder.loop("row", 0, source.elements // depth) as row:
            base = builder.let("base", multiply(row, depth))
            total = builder.allocate("total", Type.I32, 1)
            total[0] = 0
            with builder.loop("i", 0, depth) as i:
                value = builder.let("value", subtract(x.wide(add(base, i)), zero))
                total[0] = add(total[0], multiply(value, value))
            multiplier, right = inverse_root_of(builder, total[0])
            shift = builder.let("left", subtract(OUTPUT_BITS, right))
            with builder.loop("i", 0, depth) as i:
                value = subtract(x.wide(add(base, i)), zero)
                scaled = loops.mbqm(value, multiplier, shift)
                y[add(base, i)] = loops.quantize(scaled, 0, (INT8_MIN, INT8_MAX))
        return builder.lowered((*LIBRARY, INVERSE_ROOT))


def inverse_root(total: Integers) -> tuple[Integers, Integers]:
    """Return (m, s) with 1 / sqrt(total) = m * 2**(-s - 31) (TFLM: `GetInvSqrt...`).

    Args:
        total: 0 .. 2**31 - 1; 0 counts as 1.
    """
    given = np.maximum(total, 2)
    pairs = (leading_zeros(given) - 1) // 2 - 1
    moved = np.where(pairs >= 0, given << 2 * np.maximum(pairs, 0), given >> 2)
    half = rdbp(moved >> 1, 1)
    root = np.full_like(given, _ONE)
    for _ in range(_STEPS):
        cube = shift_left_saturating(srdhm(srdhm(root, root), root), 6)
        root = shift_left_saturating(srdhm(_THREE_HALVES, root) - srdhm(half, cube), 3)
    shift = _ROOT_SHIFT - pairs
    multiplier = srdhm(root, _HALF_ROOT_TWO) << np.maximum(-shift, 0)
    large = total > 1
    return np.where(large, multiplier, INT32_MAX), np.where(large, np.maximum(shift, 0), 0)


def inverse_root_of(builder: KernelBuilder, total: Expr) -> tuple[Expr, Expr]:
    """Name what `inverse_root` returns; a kernel calls `LIBRARY` of softmax and `INVERSE_ROOT`."""
    given = builder.let("given", maximum(total, 2))
    zeros = builder.let("zeros", Call("headroom", (given,), Type.I32))
    pairs = builder.let("pairs", subtract(binary(Operation.SHR, subtract(zeros, 1), 1), 1))
    shift = builder.let("shift", subtract(_ROOT_SHIFT, pairs))
    root = Call("inverse_root", (given, pairs), Type.I32)
    more = binary(Operation.SHL, root, maximum(subtract(0, shift), 0))
    large = builder.let("large", binary(Operation.LT, 1, total))
    multiplier = builder.let("multiplier", select(large, more, INT32_MAX))
    return multiplier, builder.let("far", select(large, maximum(shift, 0), 0))


def _inverse_root_function() -> PrimFunc:
    """Newton steps for the inverse root of x, shifted by pairs of bits; x is 2 at least."""
    builder = FunctionBuilder("inverse_root")
    x, pairs = builder.scalar("x"), builder.scalar("pairs")
    up = binary(Operation.SHL, x, multiply(maximum(pairs, 0), 2))
    below = binary(Operation.LT, pairs, 0)
    moved = builder.let("moved", select(below, binary(Operation.SHR, x, 2), up))
    half = builder.let("half", loops.rdbp(binary(Operation.SHR, moved, 1), 1))
    root = builder.let("root", loops.srdhm(half, 0))
    root = add(root, _ONE)
    for _ in range(_STEPS):
        root = builder.let("root", root)
        cube = builder.let("cube", loops.srdhm(loops.srdhm(root, root), root))
        fits = binary(Operation.LT, cube, 1 << 25)
        whole = select(fits, binary(Operation.SHL, cube, 6), INT32_MAX)
        less = subtract(loops.srdhm(_THREE_HALVES, root), loops.srdhm(half, whole))
        root = binary(Operation.SHL, less, 3)
    return builder.function(loops.srdhm(root, _HALF_ROOT_TWO))


INVERSE_ROOT = _inverse_root_function()


def _check_support(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    if not 1 <= len(x.shape) <= 4 or x.shape[-1] > GREATEST_DEPTH:
        limits = f"there may be 1 to 4 dimensions, the last of 1 to {GREATEST_DEPTH}"
        yield checks.fault(op, f"has shape {list(x.shape)}; {limits}", tensor=x)
    if op.attributes.get("activation", "none") != "none":
        message = f"fused activation '{op.attributes['activation']}' is not supported"
        yield checks.fault(op, message, tensor=output)
    if (scale_of(output), zero_point_of(output)) != (2.0**-OUTPUT_BITS, 0):
        message = f"has scale {scale_of(output):g} and zero point {zero_point_of(output)}"
        remedy = f"quantise the output with scale 1/{1 << OUTPUT_BITS} and zero point 0"
        yield checks.fault(op, message, tensor=output, remedy=remedy)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.int8_activations(),
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
    _check_support,
)

L2_NORMALIZATION = L2Normalization()
