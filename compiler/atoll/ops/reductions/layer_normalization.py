# SPDX-License-Identifier: Apache-2.0
"""LAYER_NORMALIZATION of rows: less their mean, over their deviation, times factors, plus offsets.

TFLite has no such operator; the front end of ONNX makes it. It needs no scale of its input, as a
row and its deviation have the same. What is between has 16 fractional bits, and is rounded; so is
the result, once.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import add, binary, cast, clamp, multiply, select, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances
from atoll.ops.quantization import INT8_MAX, INT8_MIN, INT32_MAX, Integers
from atoll.ops.reductions.by_row import ByRow
from atoll.ops.reductions.l2_normalization import (
    INVERSE_ROOT,
    inverse_root,
    inverse_root_of,
)
from atoll.ops.reductions.softmax import LIBRARY

PLACES, FACTOR_BITS, OFFSET_PLACES = 16, 24, 12
"""Fractional bits of a normalised value, bits of the greatest factor, and fractional bits of an
offset, which is in steps of the result."""

GREATEST_DEPTH, GREATEST_OFFSET = 2**16, 2**12
GREATEST_ADDED = 2**44
_ROOT_BITS = 31
_LEAST_RIGHT = _ROOT_BITS - PLACES


class LayerNormalization(ByRow):
    """LAYER_NORMALIZATION over the last dimension, of int8.

    Factors and offsets are one for each place of a row [C], or for each row [R, 1] of the R that
    the dimension before the last counts. With n values q of a row, d = n * q - sum(q) and
    v = n * sum(q * q) - sum(q)^2 + `added`, a result is
    d / sqrt(v) * factor / 2^(`shift` - 16) + offset / 2^12.
    """

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8, and factors and offsets of int32."""
        checks.apply(_RULES, op, graph)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place: an element is read before it is written."""
        return (0, None, None)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Normalise each row in integers."""
        values, factors, offsets = (np.asarray(each, np.int64) for each in inputs)
        depth, (shift, added) = values.shape[-1], _numbers(op)
        total = values.sum(axis=-1, keepdims=True)
        spread = depth * (values * values).sum(axis=-1, keepdims=True) - total * total + added
        halves = _halves(depth, added) * (spread > INT32_MAX)
        root, right = inverse_root(spread >> 2 * halves)
        normal = _shift_right((depth * values - total) * root, right + halves + _LEAST_RIGHT)
        places = shift - OFFSET_PLACES
        made = _shift_right(normal * factors + (offsets << places), np.asarray(shift))
        return (np.clip(made, INT8_MIN, INT8_MAX).astype(np.int8),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Sum each row and its squares, then go through it again."""
        source, (shift, added) = graph.tensor(op.inputs[0]), _numbers(op)
        of_rows = len(require_input(op, graph, 1).shape) == 2
        depth, each = source.shape[-1], source.shape[-2] if of_rows else 1
        builder = KernelBuilder(op, graph)
        x, factors, offsets = (
            builder.input(at, name) for at, name in enumerate(("x", "factors", "offsets"))
        )
        y = builder.output()
        with (
            builder.loop("group", 0, source.elements // depth // each) as group,
            builder.loop("row", 0, each) as row,
        ):
            base = builder.let("base", multiply(add(multiply(group, each), row), depth))
            total, squares = (builder.allocate(name, Type.I32, 1) for name in ("total", "squares"))
            total[0], squares[0] = 0, 0
            with builder.loop("i", 0, depth) as i:
                value = builder.let("value", x.wide(add(base, i)))
                total[0] = add(total[0], value)
                squares[0] = add(squares[0], multiply(value, value))
            mean = builder.let("mean", total[0])
            root, right = _root(builder, mean, squares[0], depth, added)
            half = builder.let("half", binary(Operation.SHL, 1, subtract(right, 1)))
            with builder.loop("i", 0, depth) as i:
                far = subtract(multiply(x.wide(add(base, i)), depth), mean)
                scaled = multiply(cast(far, Type.I64), root)
                normal = builder.let("normal", binary(Operation.SHR, add(scaled, half), right))
                place = row if of_rows else i
                product = multiply(normal, cast(factors.wide(place), Type.I64))
                offset = cast(offsets.wide(place), Type.I64)
                offset = binary(Operation.SHL, offset, shift - OFFSET_PLACES)
                made = binary(Operation.SHR, add(product, offset, 1 << (shift - 1)), shift)
                y[add(base, i)] = cast(clamp(made, INT8_MIN, INT8_MAX), Type.I32)
        return builder.lowered((*LIBRARY, INVERSE_ROOT))


def to_fixed_point(
    factors: NDArray[np.float64], offsets: NDArray[np.float64]
) -> tuple[Integers, Integers, int] | None:
    """Return factors and offsets as the operator has them, and its `shift`.

    Args:
        factors: real numbers, in steps of the result.
        offsets: likewise.

    Returns:
        None where they are too large for it, or no numbers.
    """
    if not (np.isfinite(factors).all() and np.isfinite(offsets).all()):
        return None
    greatest = float(np.abs(factors).max(initial=0.0))
    places = FACTOR_BITS - math.frexp(greatest)[1]
    places = min(places, FACTOR_BITS + 6)
    if places < 0 or not (np.abs(offsets) < GREATEST_OFFSET).all():
        return None
    wide = np.rint(factors * 2.0**places).astype(np.int64)
    return wide, np.rint(offsets * 2.0**OFFSET_PLACES).astype(np.int64), PLACES + places


def _root(
    builder: KernelBuilder, mean: Expr, squares: Expr, depth: int, added: int
) -> tuple[Expr, Expr]:
    """Name the factor of a row's values, and how far their products go to the right, as `I64`."""
    wide, sum_of_squares = cast(mean, Type.I64), cast(squares, Type.I64)
    spread = builder.let(
        "spread", add(subtract(multiply(sum_of_squares, depth), multiply(wide, wide)), added)
    )
    given: Expr = spread
    more: Expr | int = 0
    if halves := _halves(depth, added):
        large = builder.let("large", binary(Operation.LT, INT32_MAX, spread))
        given = select(large, binary(Operation.SHR, spread, 2 * halves), spread)
        more = select(large, halves, 0)
    root, shift = inverse_root_of(builder, builder.let("given", cast(given, Type.I32)))
    right = builder.let("right", cast(add(shift, more, _LEAST_RIGHT), Type.I64))
    return builder.let("root", cast(root, Type.I64)), right


def _halves(depth: int, added: int) -> int:
    """Return by how many pairs of bits the greatest spread is more than an int32."""
    greatest = depth * depth * 2**14 + added
    return max(0, -(-(greatest.bit_length() - _ROOT_BITS) // 2))


def _shift_right(x: Integers, right: Integers) -> Integers:
    """Shift to the right, halves up."""
    moved: Integers = (x + (np.int64(1) << (right - 1))) >> right
    return moved


def _numbers(op: Operator) -> tuple[int, int]:
    shift, added = op.attributes["shift"], op.attributes["added"]
    assert isinstance(shift, int)
    assert isinstance(added, int)
    return shift, added


def _check_support(op: Operator, graph: Graph) -> Iterator[Fault]:
    x = require_input(op, graph, 0)
    depth = (x.shape or (0,))[-1]
    if not 1 <= depth <= GREATEST_DEPTH:
        message = f"has shape {list(x.shape)}; the last dimension may be 1 to {GREATEST_DEPTH}"
        yield checks.fault(op, message, tensor=x)
    for tensor in (require_input(op, graph, 1), require_input(op, graph, 2)):
        shape = (x.shape[-2], 1) if len(tensor.shape) == 2 and len(x.shape) > 1 else (depth,)
        if tensor.shape != shape or len(require_input(op, graph, 1).shape) != len(shape):
            message = f"has shape {list(tensor.shape)} instead of {list(shape)}"
            yield checks.fault(op, message, tensor=tensor)
    shift, added = _numbers(op)
    if not PLACES <= shift <= PLACES + FACTOR_BITS + 6 or not 0 <= added <= GREATEST_ADDED:
        yield checks.fault(op, f"has shift {shift} and added {added}, which are out of range")


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(3, 3),
    checks.int8_activations(0),
    checks.constant(1, "int32"),
    checks.constant(2, "int32"),
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
    _check_support,
)

LAYER_NORMALIZATION = LayerNormalization()
