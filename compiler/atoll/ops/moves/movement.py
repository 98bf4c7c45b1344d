# SPDX-License-Identifier: Apache-2.0
"""RESHAPE, its kin and copy: bytes move in their order, values stay. Other moves build on them."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from atoll.ir.builder import Buffer
from atoll.ir.expressions import Operand, add
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind
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


class View(Movement):
    """Elements in their order, in the shape of the output tensor, which files state as well."""

    types: ClassVar[tuple[str, ...]] = checks.MOVED
    slower_over_operands = True

    @abstractmethod
    def shape(self, op: Operator, graph: Graph) -> tuple[int, ...] | None:
        """Return the output's shape if the input's elements can have it, else None."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a shape that fits, and the same type."""
        rules = (
            checks.operands(1, 2),
            checks.activations(0, types=self.types),
            checks.same_type(),
            checks.same_quantization,
            checks.output_shape(self.shape),
        )
        checks.apply(rules, op, graph)

    def view_offset(self, op: Operator, graph: Graph) -> int:
        """Begin where the input does."""
        return 0

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Give the same elements the output's shape."""
        assert inputs[0] is not None
        return (inputs[0].reshape(graph.results(op)[0].shape),)


class Reshape(View):
    """RESHAPE to as many elements."""

    tflite = TfliteForm(code="RESHAPE", shapes_from=1, any_shape=True)

    def shape(self, op: Operator, graph: Graph) -> tuple[int, ...] | None:
        """Count elements."""
        (output,) = graph.results(op)
        return output.shape if output.elements == require_input(op, graph, 0).elements else None


class Squeeze(View):
    """SQUEEZE of some extents of 1, or of all; TFLM: `SqueezePrepare`."""

    tflite = TfliteForm(code="SQUEEZE")

    def shape(self, op: Operator, graph: Graph) -> tuple[int, ...] | None:
        """Leave out extents of 1."""
        given, made = require_input(op, graph, 0).shape, graph.results(op)[0].shape
        alike = [n for n in given if n != 1] == [n for n in made if n != 1]
        return made if alike and len(made) <= len(given) else None


class ExpandDims(View):
    """EXPAND_DIMS by an extent of 1, at an axis that the output states; TFLM: `VerifyTensorDim`."""

    tflite = TfliteForm(code="EXPAND_DIMS", shapes_from=1)
    types = checks.QUANTIZED

    def shape(self, op: Operator, graph: Graph) -> tuple[int, ...] | None:
        """Put a 1 in at each place."""
        given, made = require_input(op, graph, 0).shape, graph.results(op)[0].shape
        wider = [(*given[:at], 1, *given[at:]) for at in range(len(given) + 1)]
        return made if made in wider else None


class Copy(Movement):
    """Move a tensor between pools; placement makes it, no model file holds it."""

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


_COPY_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.same_type(),
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
)

EXPAND_DIMS = ExpandDims()
RESHAPE = Reshape()
SQUEEZE = Squeeze()
COPY = Copy()
