"""MUL and other kinds that scale a product."""

from collections.abc import Mapping, Sequence

from atoll.ir.expressions import multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.elements.elementwise import (
    BINARY_RULES,
    LONG_NEIGHBOURS,
    Elementwise,
    centred,
    centring,
    finished,
    lowered,
    scale_factor,
)
from atoll.ops.kind import Array, Rates
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import bounds_of, mbqm, quantize_multiplier, scaled_by
from atoll.ops.tflite_form import TfliteForm, only_activation


class Mul(Elementwise):
    """MUL with broadcasting."""

    tflite = TfliteForm(code="MUL", table="MulOptions", fields={0: 1}, read=only_activation)
    rates = Rates(made=135)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two int8 inputs that broadcast to the output."""
        checks.apply((*BINARY_RULES, checks.factors(scale_factor)), op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Multiply; either input may be broadcast."""
        left, right = centred(op, graph, inputs)
        (factor,) = scale_factor(op, graph)
        return (finished(op, graph, mbqm(left * right, *quantize_multiplier(factor))),)

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how the result is scaled, and its least and greatest value."""
        (factor,) = scale_factor(op, graph)
        return scaled_by("output", quantize_multiplier(factor)) | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike."""
        factor = quantize_multiplier(*scale_factor(op, graph))
        scaled = centring(op, graph, lambda terms: loops.mbqm(multiply(*terms), *factor))
        return lowered(op, graph, scaled, LONG_NEIGHBOURS)


MUL = Mul()
