# SPDX-License-Identifier: Apache-2.0
"""ASSIGN_VARIABLE: a value becomes the state that the next run finds."""

from collections.abc import Sequence

from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kind import Array, Distances
from atoll.ops.moves.movement import Movement
from atoll.ops.tflite_form import TfliteForm


class AssignVariable(Movement):
    """ASSIGN_VARIABLE of a value to a state; TFLM: `MicroResourceVariables::Assign`."""

    tflite = TfliteForm(code="ASSIGN_VARIABLE", states=(1,))

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a value of the state's type and shape."""
        checks.apply(_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Return the value."""
        assert inputs[0] is not None
        return (inputs[0],)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart: a state lives all the time."""
        return (None, None)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.activations(types=checks.MOVED),
    checks.same_type(0, 1),
    checks.same_quantization,
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
    checks.output_shape(lambda op, graph: require_input(op, graph, 1).shape),
)

ASSIGN_VARIABLE = AssignVariable()
