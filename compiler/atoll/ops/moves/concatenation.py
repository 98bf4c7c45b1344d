# SPDX-License-Identifier: Apache-2.0
"""CONCATENATION: for each outer index, one run of elements from every input."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import add, multiply
from atoll.ir.graph import ITEM_BYTES, Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances
from atoll.ops.moves.movement import Movement, move
from atoll.ops.overlap import useful
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm, activation


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"axis": options.Axis(), "activation": activation(options)}


class Concatenation(Movement):
    """CONCATENATION of one or more inputs along `axis`, which may count from the end.

    With its result over an operand joining takes about 1.7 times the cycles (rv32imc, RTL).
    """

    tflite: ClassVar[TfliteForm | None] = TfliteForm(
        code="CONCATENATION",
        table="ConcatenationOptions",
        may_lack_table=True,
        fields={0: 4, 1: 1},
        read=_options,
    )
    slower_over_operands = True

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept inputs quantised alike that differ in extent along the axis only."""
        checks.apply(_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Join the inputs in their order."""
        present = [values for values in inputs if values is not None]
        return (np.concatenate(present, axis=op.integer("axis")),)

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Join the same rows of all inputs, if it joins within rows."""
        dimensions = len(graph.results(op)[0].shape)
        if op.integer("axis") % dimensions < 2:
            return None
        return RowWork(reads=(rows,) * len(op.inputs), attributes=op.attributes)

    def joins(self, op: Operator, graph: Graph) -> bool:
        """Tell whether no dimension is outside the axis."""
        return _runs(op, graph)[0] == 1

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let each input lie where it ends up, or above."""
        outer, runs = _runs(op, graph)
        size = ITEM_BYTES[graph.results(op)[0].dtype]
        total = sum(runs)
        before = (sum(runs[:position]) for position in range(len(runs)))
        return tuple(
            useful((start + (outer - 1) * (total - run)) * size, outer * total * size)
            for start, run in zip(before, runs, strict=True)
        )

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the outer indices."""
        extent, runs = _runs(op, graph)
        builder = KernelBuilder(op, graph)
        sources = [builder.input(position, f"x{position}") for position in range(len(op.inputs))]
        y = builder.output()
        with builder.loop("outer", 0, extent) as outer:
            target = builder.let("target", multiply(outer, sum(runs)))
            for position, (x, run) in enumerate(zip(sources, runs, strict=True)):
                start = add(target, sum(runs[:position]))
                move(builder, y, start, x, multiply(outer, run), run)
        return builder.lowered()


def _runs(op: Operator, graph: Graph) -> tuple[int, tuple[int, ...]]:
    """Return how often the inputs take turns, and the elements that each gives at a time."""
    (output,) = graph.results(op)
    axis = op.integer("axis") % len(output.shape)
    inputs = (require_input(op, graph, position) for position in range(len(op.inputs)))
    return prod(output.shape[:axis]), tuple(prod(tensor.shape[axis:]) for tensor in inputs)


def _joined_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    shapes = [tensor.shape for tensor in graph.operands(op) if tensor is not None]
    dimensions, axis = len(shapes[0]), op.integer("axis")
    if not -dimensions <= axis < dimensions or {len(shape) for shape in shapes} != {dimensions}:
        return None
    axis %= dimensions
    if len({shape[:axis] + shape[axis + 1 :] for shape in shapes}) != 1:
        return None
    return (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])


def _no_activation(op: Operator, graph: Graph) -> Iterator[Fault]:
    chosen, (output,) = op.attributes["activation"], graph.results(op)
    if chosen != "none":
        yield checks.fault(op, f"fused activation '{chosen}' is not supported", tensor=output)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 2**16),
    checks.all_present,
    checks.activations(types=checks.MOVED),
    checks.same_type(),
    checks.same_quantization,
    _no_activation,
    checks.output_shape(_joined_shape),
)

CONCATENATION = Concatenation()
