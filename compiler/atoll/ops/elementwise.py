"""ADD, MUL and QUANTIZE: each output element depends on one element of every input."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.checks import required
from atoll.ops.overlap import Distances
from atoll.ops.quantization import (
    Integers,
    activation_range,
    mbqm,
    quantize_multiplier,
    scale_of,
    zero_point_of,
)
from atoll.ops.registry import Array

if TYPE_CHECKING:
    from atoll.ir.tir import Lowered

ADD_LEFT_SHIFT = 20


class Elementwise:
    """What the kinds share."""

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the count of elements; there are no multiply-accumulates."""
        return {"macs": 0, "elements": graph.results(op)[0].elements}

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the place of an input that is not broadcast."""
        (output,) = graph.results(op)
        elements = (required(op, graph, position).elements for position in range(len(op.inputs)))
        return tuple(0 if count == output.elements else None for count in elements)


class Add(Elementwise):
    """ADD with broadcasting: both inputs are brought to one scale with 20 more bits."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two int8 inputs that broadcast to the output."""
        rules = (*_BINARY_RULES, checks.factors(lambda op, graph: (add_factors(op, graph)[2],), 0))
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Add; either input may be broadcast."""
        *terms, result = (quantize_multiplier(factor) for factor in add_factors(op, graph))
        left, right = (
            mbqm(values << ADD_LEFT_SHIFT, *term)
            for values, term in zip(_centred(op, graph, inputs), terms, strict=True)
        )
        return (_finished(op, graph, mbqm(left + right, *result)),)

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.elementwise_loops import lower_add

        return lower_add(op, graph)


class Mul(Elementwise):
    """MUL with broadcasting."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two int8 inputs that broadcast to the output."""
        checks.apply((*_BINARY_RULES, checks.factors(scale_factor)), op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Multiply; either input may be broadcast."""
        left, right = _centred(op, graph, inputs)
        (factor,) = scale_factor(op, graph)
        return (_finished(op, graph, mbqm(left * right, *quantize_multiplier(factor))),)

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.elementwise_loops import lower_mul

        return lower_mul(op, graph)


class Quantize(Elementwise):
    """QUANTIZE from int8 to int8 with another scale or zero point."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an int8 input of the output's shape."""
        rules = (
            checks.operands(1, 1),
            checks.int8_activations(),
            checks.output_shape(_broadcast_shape),
            checks.factors(scale_factor),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Requantise every element."""
        (values,) = _centred(op, graph, inputs)
        (factor,) = scale_factor(op, graph)
        return (_finished(op, graph, mbqm(values, *quantize_multiplier(factor))),)

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.elementwise_loops import lower_quantize

        return lower_quantize(op, graph)


def add_factors(op: Operator, graph: Graph) -> tuple[float, float, float]:
    """Return the real factors of an addition: first input, second input, output."""
    first, second = (scale_of(required(op, graph, position)) for position in (0, 1))
    twice_max = 2 * max(first, second)
    (output,) = graph.results(op)
    result = twice_max / ((1 << ADD_LEFT_SHIFT) * scale_of(output))
    return first / twice_max, second / twice_max, result


def scale_factor(op: Operator, graph: Graph) -> tuple[float]:
    """Return the real factor of mul and quantize: product of input scales / output scale."""
    product = 1.0
    for tensor in graph.operands(op):
        assert tensor is not None
        product *= scale_of(tensor)
    return (product / scale_of(graph.results(op)[0]),)


def _centred(op: Operator, graph: Graph, inputs: Sequence[Array | None]) -> list[Integers]:
    """Return the input values less their zero points."""
    return [
        np.asarray(values, np.int64) - zero_point_of(required(op, graph, position))
        for position, values in enumerate(inputs)
    ]


def _finished(op: Operator, graph: Graph, scaled: Integers) -> Array:
    """Add the output's zero point and clamp."""
    (output,) = graph.results(op)
    clamped = np.clip(scaled + zero_point_of(output), *activation_range(op, output))
    return clamped.astype(np.int8)


def _broadcast_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    shapes = [tensor.shape for tensor in graph.operands(op) if tensor is not None]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


_BINARY_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(),
    checks.activation,
    checks.output_shape(_broadcast_shape),
)

ADD = Add()
MUL = Mul()
QUANTIZE = Quantize()
