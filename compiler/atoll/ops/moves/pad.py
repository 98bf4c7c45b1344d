"""PAD: the input surrounded with the zero point."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from math import prod

import numpy as np

from atoll.errors import Fault
from atoll.ir.expressions import add, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered
from atoll.ops import checks
from atoll.ops.checks import required
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, Rates
from atoll.ops.moves.movement import Movement, move
from atoll.ops.quantization import zero_point_of
from atoll.ops.tflite_form import TfliteForm


class Pad(Movement):
    """PAD with the zero point; the second input holds (before, after) for each dimension."""

    tflite = TfliteForm(code="PAD", constants={1: "paddings"})
    rates = Rates(made=12)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept constant paddings that are 0 or more."""
        checks.apply(_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Surround the input with the zero point."""
        assert inputs[0] is not None
        fill = zero_point_of(graph.results(op)[0])
        return (np.pad(inputs[0], _pairs(op, graph), constant_values=fill),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart: the output is filled before the input is read."""
        return (None,) * len(op.inputs)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Fill the output with real zeros, then copy the input into it."""
        source, (output,) = graph.tensor(op.inputs[0]), graph.results(op)
        before = [pair[0] for pair in _pairs(op, graph)]
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        with builder.loop("i", 0, output.elements) as i:
            y[i] = zero_point_of(output)
        outer = max(
            (d + 1 for d in range(len(before)) if source.shape[d] != output.shape[d]), default=0
        )
        from_index: Expr = Const(0)
        to_index: Expr = Const(0)
        with ExitStack() as nest:
            for d in range(outer - 1):
                i = nest.enter_context(builder.loop(f"d{d}", 0, source.shape[d]))
                from_index = add(from_index, multiply(i, prod(source.shape[d + 1 :])))
                to_index = add(to_index, multiply(add(i, before[d]), prod(output.shape[d + 1 :])))
            if outer:
                to_index = add(to_index, before[outer - 1] * prod(output.shape[outer:]))
            move(builder, y, to_index, x, from_index, prod(source.shape[max(outer - 1, 0) :]))
        return builder.lowered()


def _pairs(op: Operator, graph: Graph) -> tuple[tuple[int, int], ...]:
    """Return the elements that are added (before, after) each dimension."""
    pairs = required(op, graph, 1).array.astype(np.int64).reshape(-1, 2).tolist()
    return tuple((before, after) for before, after in pairs)


def _paddings(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, table = required(op, graph, 0), required(op, graph, 1)
    if table.shape != (len(x.shape), 2):
        message = f"has shape {list(table.shape)} instead of {[len(x.shape), 2]}"
        yield checks.fault(op, message, tensor=table)
    elif table.elements and int(table.array.astype(np.int64).min()) < 0:
        yield checks.fault(op, "holds a padding below 0", tensor=table)


def _padded(op: Operator, graph: Graph) -> tuple[int, ...]:
    pairs = zip(required(op, graph, 0).shape, _pairs(op, graph), strict=True)
    return tuple(size + before + after for size, (before, after) in pairs)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(0),
    checks.constant(1, "int32", "int64"),
    checks.same_quantization,
    _paddings,
    checks.output_shape(_padded),
)

PAD = Pad()
