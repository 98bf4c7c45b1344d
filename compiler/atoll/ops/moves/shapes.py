# SPDX-License-Identifier: Apache-2.0
"""SHAPE, FILL and their kin: what shapes say, and one value in a shape."""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import binary, select
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered, Operation
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances
from atoll.ops.moves.movement import Movement
from atoll.ops.tflite_form import BYTE, TfliteForm


class Shape(Movement):
    """SHAPE as int32; it is computed when a file is loaded, unless it is handed out."""

    tflite = TfliteForm(code="SHAPE", table="ShapeOptions", may_lack_table=True, fields={0: BYTE})
    of_shapes_alone = True

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an input of any type, and an int32 result."""
        checks.apply(_SHAPE_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Return the shape; no value matters."""
        return (np.array(require_input(op, graph, 0).shape, np.int32),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart."""
        return (None,)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Store the extents."""
        builder = KernelBuilder(op, graph)
        y = builder.output()
        for at, extent in enumerate(require_input(op, graph, 0).shape):
            y[at] = extent
        return builder.lowered()


class Fill(Movement):
    """FILL the shape of the output tensor with a scalar (TFLM: `FillEval`)."""

    tflite = TfliteForm(code="FILL", order=(1,))

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a scalar of the output's type and quantisation."""
        checks.apply(_FILL_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Repeat the value."""
        assert inputs[0] is not None
        (output,) = graph.results(op)
        return (np.full(output.shape, inputs[0].reshape(()), output.dtype),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart."""
        return (None,)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Store the value everywhere."""
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        value = builder.let("value", x[0])
        with builder.loop("i", 0, graph.results(op)[0].elements) as i:
            y[i] = value
        return builder.lowered()


class ZerosLike(Movement):
    """ZEROS_LIKE: zeros as they are stored, whatever the zero point (TFLM: `ZerosLikeEval`)."""

    tflite = TfliteForm(code="ZEROS_LIKE")
    of_shapes_alone = True

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an input of int8, int32 or int64, and a result of its type and shape."""
        checks.apply(_ZEROS_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Return zeros; no value matters."""
        (output,) = graph.results(op)
        return (np.zeros(output.shape, output.dtype),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart."""
        return (None,)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Store zeros everywhere."""
        builder = KernelBuilder(op, graph)
        y = builder.output()
        with builder.loop("i", 0, graph.results(op)[0].elements) as i:
            y[i] = 0
        return builder.lowered()


class BroadcastArgs(Movement):
    """BROADCAST_ARGS: the shape that two shapes broadcast to (TFLM: `BroadcastArgs`).

    Of two extents that do not fit it takes the first, where TFLM ends the run.
    """

    tflite = TfliteForm(code="BROADCAST_ARGS")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two lists of int32 or int64, and a result as long as the longer one."""
        checks.apply(_BROADCAST_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take the extent that is not 1, the low 32 bits of it."""
        (output,) = graph.results(op)
        lists = [np.asarray(each, np.int64).astype(np.int32) for each in inputs]
        left, right = (
            np.pad(each, (output.elements - each.size, 0), constant_values=1) for each in lists
        )
        return (np.where(left == 1, right, left).astype(output.dtype),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart."""
        return (None, None)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Choose of each pair from the back; what one list lacks is 1."""
        builder = KernelBuilder(op, graph)
        sources, y = (builder.input(0, "a"), builder.input(1, "b")), builder.output()
        lengths = [require_input(op, graph, at).elements for at in (0, 1)]
        for place in range(max(lengths)):
            left, right = (
                source.wide(at) if (at := place - max(lengths) + length) >= 0 else 1
                for source, length in zip(sources, lengths, strict=True)
            )
            if isinstance(left, int) or isinstance(right, int):
                y[place] = right if isinstance(left, int) else left
            else:
                y[place] = select(binary(Operation.EQ, left, 1), right, left)
        return builder.lowered()


def _extents(op: Operator, graph: Graph) -> tuple[int, ...]:
    return (len(require_input(op, graph, 0).shape),)


def _longer(op: Operator, graph: Graph) -> tuple[int, ...]:
    return (max(require_input(op, graph, at).elements for at in (0, 1)),)


def _int32_result(op: Operator, graph: Graph) -> Iterator[Fault]:
    (output,) = graph.results(op)
    if output.dtype != "int32":
        yield checks.fault(op, f"has type {output.dtype} instead of int32", tensor=output)


def _scalar(op: Operator, graph: Graph) -> Iterator[Fault]:
    value = require_input(op, graph, 0)
    if value.shape:
        yield checks.fault(op, f"has shape {list(value.shape)} instead of []", tensor=value)


_SHAPE_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    _int32_result,
    checks.output_shape(_extents),
)
_FILL_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=("int8", "int32")),
    checks.same_type(),
    checks.same_quantization,
    _scalar,
)

_ZEROS_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=("int8", "int32", "int64")),
    checks.same_type(),
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
)
_BROADCAST_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.activations(types=("int32", "int64")),
    checks.same_type(0, 1),
    checks.rank(0, 1, dimensions=1),
    checks.output_shape(_longer),
)

BROADCAST_ARGS, ZEROS_LIKE = BroadcastArgs(), ZerosLike()
FILL = Fill()
SHAPE = Shape()
