# SPDX-License-Identifier: Apache-2.0
"""Rows of an image: some of one, or all of several one below the other. Tiling makes both kinds.

Both are about one sample, whose rows lie one behind the other: where one storage can serve, no byte
moves at all.
"""

from collections.abc import Sequence

from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances
from atoll.ops.moves.concatenation import Concatenation
from atoll.ops.moves.movement import Movement, move


class Rows(Movement):
    """Rows `begin` up to `end` of an image [1, H, W, C]."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept rows that the image has."""
        checks.apply(_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Cut them out."""
        assert inputs[0] is not None
        return (inputs[0][:, op.integer("begin") : op.integer("end")],)

    def view_offset(self, op: Operator, graph: Graph) -> int:
        """Return the bytes of the rows above."""
        x = require_input(op, graph, 0)
        return op.integer("begin") * (x.size // x.shape[1])

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart."""
        return (None,)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Move them."""
        builder, (output,) = KernelBuilder(op, graph), graph.results(op)
        first = op.integer("begin") * (output.elements // output.shape[1])
        move(builder, builder.output(), 0, builder.input(0, "x"), first, output.elements)
        return builder.lowered()


class Join(Concatenation):
    """Images [1, H, W, C] one below the other."""

    tflite = None


def _cut(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    x, begin, end = require_input(op, graph, 0), op.integer("begin"), op.integer("end")
    fits = x.shape[0] == 1 and 0 <= begin < end <= x.shape[1]
    return (1, end - begin, *x.shape[2:]) if fits else None


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.int8_activations(),
    checks.same_quantization,
    checks.rank(0, dimensions=4),
    checks.output_shape(_cut),
)

ROWS = Rows()
JOIN = Join()
