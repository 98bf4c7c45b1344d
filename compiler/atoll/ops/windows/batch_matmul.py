# SPDX-License-Identifier: Apache-2.0
"""BATCH_MATMUL: products of matrices, either of which may be a constant or transposed."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import Buffer
from atoll.ir.expressions import add, cast, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, OperatorKind
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.loops.broadcast_loops import broadcast
from atoll.ops.loops.channel_loops import block_width
from atoll.ops.loops.wide_sums import WIDE_LIBRARY, factors, is_wide, scale_wide
from atoll.ops.quantization import (
    activation_range,
    factor_values,
    quantize_multiplier,
    scale_of,
    scaling_of,
    wide_scaling_of,
    zero_point_of,
)
from atoll.ops.rounding import rounding_feature, rounds_once
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm
from atoll.records import dataclass

RANKS = range(2, 6)


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"adj_x": bool(options.AdjX()), "adj_y": bool(options.AdjY())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrices:
    """One operand: matrices that follow each other.

    Attributes:
        batch: extents of the dimensions before the last two.
        rows, columns: of a matrix, transposed if it is.
        row_step, column_step: elements from a row or column to the next.
    """

    batch: tuple[int, ...]
    rows: int
    columns: int
    row_step: int
    column_step: int

    @classmethod
    def of(cls, shape: tuple[int, ...], *, transposed: bool) -> "Matrices":
        """Return what an operand of a shape stands for."""
        *batch, rows, columns = shape
        if transposed:
            return cls(batch=(*batch,), rows=columns, columns=rows, row_step=1, column_step=columns)
        return cls(batch=(*batch,), rows=rows, columns=columns, row_step=columns, column_step=1)


class BatchMatmul(OperatorKind):
    """BATCH_MATMUL; `adj_x` and `adj_y` transpose the operands."""

    tflite = TfliteForm(
        code="BATCH_MATMUL",
        table="BatchMatMulOptions",
        may_lack_table=True,
        fields={0: 1, 1: 1, 2: 1},
        read=_options,
    )
    parallel = ("i0", "row", "block")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 or int16 of two to five dimensions, all but the last two broadcast."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how many matrices there are, their extents and the work."""
        left, right = _matrices(op, graph)
        (output,) = graph.results(op)
        return {
            "macs": output.elements * left.columns,
            "batches": prod(output.shape[:-2]),
            "rows": left.rows,
            "columns": right.columns,
            "depth": left.columns,
            **rounding_feature(op),
        }

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how sums are scaled."""
        return factor_values("output", quantize_multiplier(*_factor(op, graph)))

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Multiply (TFLM: `reference_ops::BatchMatMul`); whole numbers are exact in float64."""
        (output,) = graph.results(op)
        operands = [
            np.asarray(values, np.float64) - zero_point_of(require_input(op, graph, position))
            for position, values in enumerate(inputs)
        ]
        left, right = (
            values.swapaxes(-1, -2) if op.attributes[name] else values
            for name, values in zip(("adj_x", "adj_y"), operands, strict=True)
        )
        sums = (left @ right).astype(np.int64)
        scale = (wide_scaling_of if is_wide(op, graph) else scaling_of)(op)
        scaled = scale(sums, *quantize_multiplier(*_factor(op, graph))) + zero_point_of(output)
        return (np.clip(scaled, *activation_range(op, output)).astype(output.dtype),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over matrices, rows, blocks of columns, and products.

        The zero point of the second operand counts once for each sum, by that of its row.
        """
        (left, right), (output,) = _matrices(op, graph), graph.results(op)
        zeros = [zero_point_of(graph.tensor(name)) for name in op.inputs]
        factor, wide = quantize_multiplier(*_factor(op, graph)), is_wide(op, graph)
        scaling = loops.scaling_of(op)
        builder, lanes = KernelBuilder(op, graph), block_width(right.columns)
        a, b, y = builder.input(0, "a"), builder.input(1, "b"), builder.output()

        def requantize(total: Expr) -> Expr:
            if wide:
                scaled = scale_wide(total, *factor, once=rounds_once(op))
            else:
                scaled = scaling(total, *factor)
            return loops.quantize(scaled, zero_point_of(output), activation_range(op, output))

        batches = [left.batch, right.batch]
        with broadcast(builder, batches, output.shape[:-2], 1) as elements:
            ((first, second), place) = elements[0]
            starts = [
                builder.let("matrix", multiply(number, each.rows * each.columns))
                for number, each in ((first, left), (second, right))
            ]
            with (
                builder.loop("row", 0, left.rows) as row,
                builder.loop("block", 0, right.columns // lanes) as block,
            ):
                column = builder.let("column", multiply(block, lanes))
                line = multiply(add(multiply(place, left.rows), row), right.columns)
                target = builder.let("target", add(line, column))
                places = (
                    builder.let("a_row", add(starts[0], multiply(row, left.row_step))),
                    builder.let("b_column", add(starts[1], multiply(column, right.column_step))),
                )
                operands = (Factor(a, left, zeros[0]), Factor(b, right, zeros[1]))
                sums = _sums(builder, operands, places, lanes, Type.I64 if wide else Type.I32)
                for lane, total in enumerate(sums):
                    y[add(target, lane)] = requantize(total)
        return builder.lowered(WIDE_LIBRARY if wide else ())


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand of a kernel: its values, how they lie, and their zero point."""

    values: Buffer
    matrices: Matrices
    zero: int


def _sums(
    builder: KernelBuilder,
    factors: tuple[Factor, Factor],
    places: tuple[Expr, Expr],
    lanes: int,
    type: Type,
) -> list[Expr]:
    """Sum the products of a row and of some columns that begin at `places`."""
    left, right = factors
    totals = [builder.allocate("total", type, 1) for _ in range(lanes)]
    shared = builder.allocate("shared", Type.I32, 1)
    for total in (*totals, shared):
        total[0] = Const(0, total.type)
    with builder.loop("k", 0, left.matrices.columns) as k:
        given = left.values.wide(add(places[0], multiply(k, left.matrices.column_step)))
        value = builder.let("value", subtract(given, left.zero))
        here = builder.let("here", add(places[1], multiply(k, right.matrices.row_step)))
        for lane, total in enumerate(totals):
            other = right.values.wide(add(here, lane * right.matrices.column_step))
            total[0] = add(total[0], cast(multiply(value, other), type))
        if right.zero:
            shared[0] = add(shared[0], value)
    less = multiply(shared[0], right.zero) if right.zero else Const(0, type)
    return [subtract(total[0], less) for total in totals]


def _matrices(op: Operator, graph: Graph) -> tuple[Matrices, Matrices]:
    left, right = (
        Matrices.of(require_input(op, graph, position).shape, transposed=bool(op.attributes[name]))
        for position, name in enumerate(("adj_x", "adj_y"))
    )
    return left, right


def _factor(op: Operator, graph: Graph) -> tuple[float]:
    """Return the real factor of sums, rounded as that of dense layers with one scale."""
    with np.errstate(over="ignore", under="ignore"):
        scales = [np.float32(scale_of(require_input(op, graph, position))) for position in (0, 1)]
        product = float(scales[0] * scales[1])
    return (product / scale_of(graph.results(op)[0]),)


def _symmetric(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require zero points of 0 where activations have 16 bits."""
    for tensor in (*graph.operands(op), *graph.results(op)):
        if tensor and tensor.dtype == "int16" and zero_point_of(tensor):
            message = f"has zero point {zero_point_of(tensor)} instead of 0"
            yield checks.fault(op, message, tensor=tensor)


def _ranks(op: Operator, graph: Graph) -> Iterator[Fault]:
    for position in (0, 1):
        tensor = require_input(op, graph, position)
        if len(tensor.shape) not in RANKS:
            message = f"has shape {list(tensor.shape)}; there may be 2 to {RANKS[-1]} dimensions"
            yield checks.fault(op, message, tensor=tensor)


def _output_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    left, right = _matrices(op, graph)
    try:
        batch = np.broadcast_shapes(left.batch, right.batch)
    except ValueError:
        return None
    return (*batch, left.rows, right.columns) if left.columns == right.rows else None


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.activations(types=checks.QUANTIZED),
    checks.same_type(0, 1),
    _symmetric,
    _ranks,
    checks.output_shape(_output_shape),
    factors(_factor),
)

BATCH_MATMUL = BatchMatmul()
