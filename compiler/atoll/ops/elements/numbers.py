# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on int32, whose values stand for themselves: sums and products wrap around."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import clamp
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered
from atoll.isa.instruction_set import Arithmetic
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import Elementwise, broadcast_shape, lower_elements
from atoll.ops.kind import Array
from atoll.ops.quantization import INT32_MAX, INT32_MIN, Integers

Function = Callable[[Integers, Integers], Array]

_LIMITS = {
    "none": (INT32_MIN, INT32_MAX),
    "relu": (0, INT32_MAX),
    "relu6": (0, 6),
    "relu_n1_to_1": (-1, 1),
}


class Numbers(Elementwise):
    """A kind of two operands: of int32 as here, of quantised types as another class has it."""

    def __init__(
        self,
        quantised: Elementwise,
        function: Function,
        operation: Callable[[Expr, Expr], Expr],
        *,
        clamped: bool = True,
        sums: bool = False,
        types: tuple[str, ...] = ("int8", "int16", "int32"),
    ) -> None:
        """Take `quantised`'s form.

        Args:
            quantised: what other types are computed by.
            function: makes numbers of two arrays.
            operation: makes the same of two expressions.
            clamped: numbers are clamped by an activation, which TFLM leaves out of an ADD.
            sums: numbers of one scale make numbers of that scale.
            types: of operands.
        """
        self.tflite = quantised.tflite  # type: ignore[misc]
        self._quantised, self._types = quantised, types
        self._clamped, self._sums = clamped, sums
        self._function, self._operation = function, operation

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of int8, int16 or int32 that broadcast to the output."""
        rules = (
            checks.operands(2, 2),
            checks.activations(types=self._types),
            checks.same_type(0, 1),
            checks.activation,
            checks.output_shape(broadcast_shape),
        )
        checks.apply(rules, op, graph)
        if not of_numbers(op, graph):
            self._quantised.check(op, graph)
        else:
            checks.apply((self._plain,), op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Combine each pair, wrap around, then clamp."""
        if not of_numbers(op, graph):
            return self._quantised.reference(op, graph, inputs)
        left, right = (np.asarray(each, np.int64) for each in inputs)
        made = self._function(left, right).astype(np.int32)
        return (np.clip(made, *self._limits(op)),)

    def caution(self, op: Operator, graph: Graph) -> str:
        """Name an activation that is left out."""
        stated = str(op.attributes.get("activation", "none"))
        if not of_numbers(op, graph) or _LIMITS[stated] == self._limits(op):
            return ""
        return f"leaves out its activation '{stated}', as TFLM does of int32; TFLite clamps"

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return nothing for numbers."""
        return {} if of_numbers(op, graph) else self._quantised.quantities(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike."""
        return (
            self._numbers(op, graph) if of_numbers(op, graph) else self._quantised.lower(op, graph)
        )

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Return what suits all cores, of numbers."""
        if of_numbers(op, graph):
            return self._numbers(op, graph)
        return self._quantised.lower_for(op, graph, arithmetic)

    def _numbers(self, op: Operator, graph: Graph) -> Lowered:
        def compute(values: Sequence[Expr]) -> Expr:
            return clamp(self._operation(*values), *self._limits(op))

        return lower_elements(op, graph, lambda builder: compute)

    def _plain(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Require numbers that stand for themselves, as TFLM takes them, whatever scale they have.

        Sums and differences may have one scale and a zero point of 0.
        """
        tensors = [t for t in (*graph.operands(op), *graph.results(op)) if t is not None]
        stated = [(t, t.quantization) for t in tensors if t.quantization is not None]
        grids = {(grid.scales, grid.zero_points) for _, grid in stated}
        alike = len(grids) == 1 and self._sums and self._limits(op)[1] == INT32_MAX
        wrong = any(any(points) or not (alike or set(scales) == {1.0}) for scales, points in grids)
        if wrong:
            message = "has a scale or a zero point, which TFLM does not heed of int32 here"
            yield checks.fault(op, message, tensor=stated[0][0])

    def _limits(self, op: Operator) -> tuple[int, int]:
        chosen = op.attributes.get("activation", "none") if self._clamped else "none"
        return _LIMITS[str(chosen)]


def of_numbers(op: Operator, graph: Graph) -> bool:
    """Tell whether an operator computes with int32."""
    return require_input(op, graph, 0).dtype == "int32"
