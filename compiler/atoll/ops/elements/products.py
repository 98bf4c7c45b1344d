# SPDX-License-Identifier: Apache-2.0
"""MUL and other kinds that scale a product."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import binary, multiply, select, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import (
    BINARY_RULES,
    LONG_NEIGHBOURS,
    Elementwise,
    Result,
    broadcast_shape,
    centre,
    compute_centred,
    finish,
    lower_elements,
    scale_factor,
    symmetric,
)
from atoll.ops.elements.numbers import Numbers
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    Integers,
    bounds_of,
    factor_values,
    mbqm,
    quantize_multiplier,
    scale_of,
    scaling_of,
)
from atoll.ops.tflite_form import TfliteForm, only_activation


class Mul(Elementwise):
    """MUL with broadcasting."""

    tflite = TfliteForm(
        code="MUL", table="MulOptions", may_lack_table=True, fields={0: 1}, read=only_activation
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of int8 or int16 that broadcast to the output."""
        checks.apply((*BINARY_RULES, checks.factors(scale_factor)), op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Multiply; either input may be broadcast."""
        left, right = centre(op, graph, inputs)
        (factor,) = scale_factor(op, graph)
        return (finish(op, graph, scaling_of(op)(left * right, *quantize_multiplier(factor))),)

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how the result is scaled, and its least and greatest value."""
        (factor,) = scale_factor(op, graph)
        return factor_values("output", quantize_multiplier(factor)) | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike."""
        factor = quantize_multiplier(*scale_factor(op, graph))
        scaling = loops.scaling_of(op)
        scaled = compute_centred(op, graph, lambda terms: scaling(multiply(*terms), *factor))
        return lower_elements(op, graph, scaled, LONG_NEIGHBOURS)


class Prelu(Elementwise):
    """PRELU: what is below 0 is multiplied by alpha (TFLM: `BroadcastPrelu4DSlow`)."""

    tflite = TfliteForm(code="PRELU")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an int8 or int16 input and an int8 alpha that broadcast to the output."""
        rules = (
            checks.operands(2, 2),
            checks.activations(0, types=("int8", "int16")),
            checks.same_type(),
            _int8_alpha,
            checks.output_shape(broadcast_shape),
            symmetric,
            checks.factors(_slopes),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Scale by one factor from 0 on, and the product by another one below."""
        x, alpha = centre(op, graph, inputs)
        identity, slope = map(quantize_multiplier, _slopes(op, graph))
        scaling = scaling_of(op)
        scaled = np.where(x >= 0, scaling(x, *identity), scaling(x * alpha, *slope))
        return (finish(op, graph, scaled),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Choose number, multiplier and shift, then scale once."""
        identity, slope = map(quantize_multiplier, _slopes(op, graph))
        scaling = loops.scaling_of(op)

        def scale_by_sign(terms: Sequence[Expr]) -> Expr:
            x, alpha = terms
            positive = binary(Operation.LE, 0, x)
            return select(positive, scaling(x, *identity), scaling(multiply(x, alpha), *slope))

        return lower_elements(op, graph, compute_centred(op, graph, scale_by_sign), LONG_NEIGHBOURS)


def _int8_alpha(op: Operator, graph: Graph) -> Iterator[Fault]:
    alpha = require_input(op, graph, 1)
    if alpha.dtype != "int8":
        yield checks.fault(op, f"has type {alpha.dtype} instead of int8", tensor=alpha)
    elif alpha.quantization is None or len(alpha.quantization.scales) != 1:
        yield checks.fault(op, "is not quantised as a whole", tensor=alpha)


def _slopes(op: Operator, graph: Graph) -> tuple[float, float]:
    x, alpha, (output,) = (
        require_input(op, graph, 0),
        require_input(op, graph, 1),
        graph.results(op),
    )
    return scale_of(x) / scale_of(output), scale_of(x) * scale_of(alpha) / scale_of(output)


class SquaredDifference(Elementwise):
    """SQUARED_DIFFERENCE: both operands are brought to one scale (TFLM: `SquaredDifference`)."""

    tflite = TfliteForm(code="SQUARED_DIFFERENCE")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of int8 or int16 that broadcast to the output."""
        rules = (
            checks.operands(2, 2),
            checks.activations(types=("int8", "int16")),
            checks.same_type(0, 1),
            checks.output_shape(broadcast_shape),
            symmetric,
            checks.factors(lambda op, graph: (_square_factors(op, graph)[2],)),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Square the difference in a scale that both share."""
        *factors, result = map(quantize_multiplier, _square_factors(op, graph))
        places = _square_places(op, graph)
        left, right = (
            mbqm(values << places, *factor)
            for values, factor in zip(centre(op, graph, inputs), factors, strict=True)
        )
        return (finish(op, graph, mbqm(np.square(left - right), *result)),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Rescale both operands, then the square."""
        *factors, result = map(quantize_multiplier, _square_factors(op, graph))
        places = _square_places(op, graph)

        def prepare(builder: KernelBuilder) -> Result:
            def square_difference(terms: Sequence[Expr]) -> Expr:
                left, right = (
                    loops.mbqm(binary(Operation.SHL, term, places), *factor)
                    for term, factor in zip(terms, factors, strict=True)
                )
                difference = builder.let("difference", subtract(left, right))
                return loops.mbqm(multiply(difference, difference), *result)

            return compute_centred(op, graph, square_difference)(builder)

        return lower_elements(op, graph, prepare, LONG_NEIGHBOURS)


def _square_of(left: Integers, right: Integers) -> Array:
    difference = left - right
    return difference * difference


def _square(left: Expr, right: Expr) -> Expr:
    difference = subtract(left, right)
    return multiply(difference, difference)


def _square_places(op: Operator, graph: Graph) -> int:
    """Return the bits that operands have more while they are subtracted."""
    return 7 if graph.results(op)[0].dtype == "int8" else 0


def _square_factors(op: Operator, graph: Graph) -> tuple[float, float, float]:
    """Return the real factors of the first input, the second input, and the square."""
    first, second = (scale_of(require_input(op, graph, position)) for position in (0, 1))
    with np.errstate(over="ignore"):
        twice = 2.0 * max(first, second)
        share = 1 << 2 * _square_places(op, graph)
        divisor = float(np.float32(share) * np.float32(scale_of(graph.results(op)[0])))
    return first / twice, second / twice, twice * twice / divisor


MUL, PRELU = Numbers(Mul(), np.multiply, multiply), Prelu()
SQUARED_DIFFERENCE = Numbers(SquaredDifference(), _square_of, _square)
