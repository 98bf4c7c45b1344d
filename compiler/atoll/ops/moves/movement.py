"""RESHAPE and copy: bytes move in their order, values stay. PAD and CONCATENATION build on them."""

from collections.abc import Mapping, Sequence

from atoll.ir.builder import Buffer
from atoll.ir.expressions import Operand, add
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.checks import required
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind, Rates
from atoll.ops.tflite_form import TfliteForm


class Movement(OperatorKind):
    """What the kinds share."""

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the bytes written; there are no multiply-accumulates."""
        return {"macs": 0, "bytes": graph.results(op)[0].size}

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the place of the first input, whose elements keep their order."""
        return (0, *(None,) * (len(op.inputs) - 1))

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Move all elements in their order."""
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        move(builder, y, 0, x, 0, graph.results(op)[0].stored)
        return builder.lowered()


class Reshape(Movement):
    """RESHAPE to the shape of the output tensor."""

    tflite = TfliteForm(code="RESHAPE", shapes_from=1)
    rates = Rates(made=6)
    view = True
    slower_over_operands = True

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept as many elements as the output has, of the same type."""
        checks.apply(_RESHAPE_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Give the same elements the output's shape."""
        assert inputs[0] is not None
        return (inputs[0].reshape(graph.results(op)[0].shape),)


class Copy(Movement):
    """Move a tensor between pools; placement makes it, no model file holds it."""

    rates = Rates(made=5)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a tensor of the output's type and shape."""
        checks.apply(_COPY_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Return the input."""
        assert inputs[0] is not None
        return (inputs[0],)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart: the tensors lie in different pools, and may be moved in larger pieces."""
        return (None,)


def move(
    builder: KernelBuilder, y: Buffer, to: Operand, x: Buffer, start: Operand, count: int
) -> None:
    """Move `count` elements of `x` from `start` on to y[to] and what follows."""
    with builder.loop("i", 0, count) as i:
        y[add(to, i)] = x[add(start, i)]


def _same_elements(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    (output,) = graph.results(op)
    return output.shape if output.elements == required(op, graph, 0).elements else None


_RESHAPE_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 2),
    checks.activations(0, types=checks.MOVED),
    checks.same_type(),
    checks.same_quantization,
    checks.output_shape(_same_elements),
)
_COPY_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.same_type(),
    checks.output_shape(lambda op, graph: required(op, graph, 0).shape),
)

RESHAPE = Reshape()
COPY = Copy()
