"""MUL and QUANTIZE, and what they share with ADD: elements depend on one of every input."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from atoll.ir.expressions import binary, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.checks import required
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind, Rates
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.loops.broadcast_loops import broadcast
from atoll.ops.quantization import (
    Integers,
    activation_range,
    bounds_of,
    mbqm,
    quantize_multiplier,
    scale_of,
    scaled_by,
    zero_point_of,
)
from atoll.ops.tflite_form import TfliteForm, only_activation

VALUES = np.arange(256, dtype=np.uint8).view(np.int8)
"""The values of int8 in the order of their bytes as numbers without a sign."""

NEIGHBOURS, LONG_NEIGHBOURS = 16, 4
"""Elements that an iteration of the innermost loop makes at most, of those that divide it: where an
element takes a dozen instructions, and where it is rescaled."""

MAPPED_CYCLES = 32
"""Cycles of a core for each element that is mapped by a table."""

Result = Callable[[Sequence[Expr]], Expr]
"""Makes an element of the output from those of the inputs, as `I32`."""

Prepare = Callable[[KernelBuilder], Result]
"""Adds to a kernel what a `Result` needs."""


class Elementwise(OperatorKind):
    """What the kinds share."""

    parallel = ("i0", "i1")
    any_layout = True

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the count of elements, and whether an input is smaller than the result."""
        (output,) = graph.results(op)
        smaller = any(x is not None and x.shape != output.shape for x in graph.operands(op))
        return {"macs": 0, "elements": output.elements, "broadcast": int(smaller)}

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Read the same rows, and all of an input that is the same for each row."""
        (output,) = graph.results(op)
        shapes = [x.shape for x in graph.operands(op) if x is not None]
        if any(len(shape) > 1 and len(shape) != len(output.shape) for shape in shapes):
            return None
        tall = (len(s) == len(output.shape) and s[1] == output.shape[1] for s in shapes)
        reads = tuple(rows if same else None for same in tall)
        return RowWork(reads=reads, attributes=op.attributes)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the place of an input that is not broadcast."""
        (output,) = graph.results(op)
        elements = (required(op, graph, position).elements for position in range(len(op.inputs)))
        return tuple(0 if count == output.elements else None for count in elements)


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


class Quantize(Elementwise):
    """QUANTIZE from int8 to int8 with another scale or zero point."""

    tflite = TfliteForm(code="QUANTIZE")
    rates = Rates(made=115)

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
        (values,) = centred(op, graph, inputs)
        (factor,) = scale_factor(op, graph)
        return (finished(op, graph, mbqm(values, *quantize_multiplier(factor))),)

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how the result is scaled, and its least and greatest value."""
        (factor,) = scale_factor(op, graph)
        return scaled_by("output", quantize_multiplier(factor)) | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output; large tensors are looked up in a table."""
        factor = quantize_multiplier(*scale_factor(op, graph))
        if not large(op, graph):
            scaled = centring(op, graph, lambda terms: loops.mbqm(terms[0], *factor))
            return lowered(op, graph, scaled, LONG_NEIGHBOURS)
        results = self.reference(op, graph, (VALUES,))[0]
        return lowered(op, graph, partial(_mapped, results))

    def cycles(self, op: Operator, graph: Graph) -> int:
        """Count a look into the table for each element of a large tensor."""
        if large(op, graph):
            return MAPPED_CYCLES * graph.results(op)[0].elements
        return super().cycles(op, graph)


def scale_factor(op: Operator, graph: Graph) -> tuple[float]:
    """Return the real factor of mul and quantize: product of input scales / output scale."""
    product = 1.0
    for tensor in graph.operands(op):
        assert tensor is not None
        product *= scale_of(tensor)
    return (product / scale_of(graph.results(op)[0]),)


def centred(op: Operator, graph: Graph, inputs: Sequence[Array | None]) -> list[Integers]:
    """Return the input values less their zero points."""
    return [
        np.asarray(values, np.int64) - zero_point_of(required(op, graph, position))
        for position, values in enumerate(inputs)
    ]


def finished(op: Operator, graph: Graph, scaled: Integers) -> Array:
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


def large(op: Operator, graph: Graph) -> bool:
    """Tell whether a table of the results has no more entries than are looked up."""
    return graph.results(op)[0].elements >= len(VALUES)


def centring(op: Operator, graph: Graph, scaled: Callable[[Sequence[Expr]], Expr]) -> Prepare:
    """Return what computes a result from the inputs' values less their zero points."""
    tensors, (output,) = [graph.tensor(name) for name in op.inputs], graph.results(op)

    def result(values: Sequence[Expr]) -> Expr:
        terms = [
            subtract(value, zero_point_of(tensor))
            for value, tensor in zip(values, tensors, strict=True)
        ]
        return loops.quantized(scaled(terms), zero_point_of(output), activation_range(op, output))

    return lambda builder: result


def _mapped(results: Array, builder: KernelBuilder) -> Result:
    table = builder.table("results", results.astype(np.int64), Type.I8)
    return lambda values: table.wide(entry_of(values[0]))


def entry_of(value: Expr) -> Expr:
    """Return where a table in the order of `VALUES` has what belongs to a value."""
    return binary(Operation.AND, value, len(VALUES) - 1)


def lowered(op: Operator, graph: Graph, prepare: Prepare, most: int = NEIGHBOURS) -> Lowered:
    """Compute each output element from the inputs' values, at most so many in an iteration."""
    builder = KernelBuilder(op, graph)
    tensors = [graph.tensor(name) for name in op.inputs]
    sources = [builder.input(position, name) for position, name in enumerate("ab"[: len(tensors)])]
    result_of = prepare(builder)
    y, (output,) = builder.output(), graph.results(op)
    shapes, result = [tensor.shape for tensor in tensors], output.shape
    if output.layout:
        shapes, result = [(tensor.stored,) for tensor in tensors], (output.stored,)
    with broadcast(builder, shapes, result, most) as elements:
        for places, place in elements:
            values = [source.wide(index) for source, index in zip(sources, places, strict=True)]
            y[place] = result_of(values)
    return builder.lowered()


BINARY_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(),
    checks.activation,
    checks.output_shape(_broadcast_shape),
)

MUL = Mul()
QUANTIZE = Quantize()
