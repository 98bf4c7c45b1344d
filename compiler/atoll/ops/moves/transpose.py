# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE: dimensions change places."""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kind import Array
from atoll.ops.moves.strided import Axis, Strided, even, in_order
from atoll.ops.tflite_form import TfliteForm

MOST_DIMENSIONS = 5


class Transpose(Strided):
    """TRANSPOSE by a constant: the second input says which dimension each of the result was.

    TFLM: `TransposePrepare`, `Transpose`.
    """

    tflite = TfliteForm(code="TRANSPOSE", constants={1: "perm"})

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept each dimension once, of 1 to 5."""
        checks.apply(_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Let the dimensions change places."""
        assert inputs[0] is not None
        return (np.ascontiguousarray(inputs[0].transpose(_order(op, graph))),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result as through the input's dimensions."""
        dimensions = even(require_input(op, graph, 0).shape)
        return in_order([dimensions[at] for at in _order(op, graph)])


def _order(op: Operator, graph: Graph) -> tuple[int, ...]:
    return tuple(require_input(op, graph, 1).array.reshape(-1).tolist())


def _permutation(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, order = require_input(op, graph, 0), require_input(op, graph, 1)
    dimensions = len(x.shape)
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        message = f"has {dimensions} dimensions where 1 to {MOST_DIMENSIONS} are supported"
        yield checks.fault(op, message, tensor=x)
    elif len(order.shape) != 1 or sorted(_order(op, graph)) != [*range(dimensions)]:
        message = f"holds {order.array.tolist()}, which is no order of {dimensions} dimensions"
        yield checks.fault(op, message, tensor=order)


def _transposed_shape(op: Operator, graph: Graph) -> tuple[int, ...]:
    shape = require_input(op, graph, 0).shape
    return tuple(shape[at] for at in _order(op, graph))


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.activations(0, types=checks.QUANTIZED),
    checks.same_type(),
    checks.constant(1, "int32"),
    checks.same_quantization,
    _permutation,
    checks.output_shape(_transposed_shape),
)

TRANSPOSE = Transpose()
