"""ADD, MUL and QUANTIZE: each output element depends on one element of every input."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from math import prod

import numpy as np

from atoll.ir.expressions import add, binary, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered, Operation
from atoll.ops import checks
from atoll.ops import fixed_point_loops as loops
from atoll.ops.checks import required
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind, Rates
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

ADD_LEFT_SHIFT = 20
RESCALED_CYCLES = 52
"""Cycles of a core for each multiplier of an addition that is no power of two, and element."""

_POWER_OF_TWO = 2**30

Shape = tuple[int, ...]


class Elementwise(OperatorKind):
    """What the kinds share."""

    parallel = ("i0", "i1")
    any_layout = True

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the count of elements, and whether an input is smaller than the result."""
        (output,) = graph.results(op)
        smaller = any(x is not None and x.shape != output.shape for x in graph.operands(op))
        return {"macs": 0, "elements": output.elements, "broadcast": int(smaller)}

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the place of an input that is not broadcast."""
        (output,) = graph.results(op)
        elements = (required(op, graph, position).elements for position in range(len(op.inputs)))
        return tuple(0 if count == output.elements else None for count in elements)


class Add(Elementwise):
    """ADD with broadcasting: both inputs are brought to one scale with 20 more bits."""

    tflite = TfliteForm(code="ADD", table="AddOptions", fields={0: 1}, read=only_activation)
    rates = Rates(made=105)

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

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the shift of both inputs, and how each and their sum are scaled."""
        names = ("input1", "input2", "output")
        pairs = zip(names, map(quantize_multiplier, add_factors(op, graph)), strict=True)
        found = {"left_shift": ADD_LEFT_SHIFT}
        for name, pair in pairs:
            found |= scaled_by(name, pair)
        return found | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike."""
        *factors, result = (quantize_multiplier(factor) for factor in add_factors(op, graph))

        def total(terms: Sequence[Expr]) -> Expr:
            shifted = (binary(Operation.SHL, term, ADD_LEFT_SHIFT) for term in terms)
            scaled = [
                loops.mbqm(term, *factor) for term, factor in zip(shifted, factors, strict=True)
            ]
            return loops.mbqm(add(*scaled), *result)

        return _lowered(op, graph, total)

    def cycles(self, op: Operator, graph: Graph) -> int:
        """Count the multipliers with which a core really multiplies."""
        factors = add_factors(op, graph)
        rescalings = sum(quantize_multiplier(factor)[0] != _POWER_OF_TWO for factor in factors)
        made = graph.results(op)[0].elements
        return super().cycles(op, graph) + RESCALED_CYCLES * made * rescalings


class Mul(Elementwise):
    """MUL with broadcasting."""

    tflite = TfliteForm(code="MUL", table="MulOptions", fields={0: 1}, read=only_activation)
    rates = Rates(made=150)

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

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how the result is scaled, and its least and greatest value."""
        (factor,) = scale_factor(op, graph)
        return scaled_by("output", quantize_multiplier(factor)) | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike."""
        factor = quantize_multiplier(*scale_factor(op, graph))
        return _lowered(op, graph, lambda terms: loops.mbqm(multiply(*terms), *factor))


class Quantize(Elementwise):
    """QUANTIZE from int8 to int8 with another scale or zero point."""

    tflite = TfliteForm(code="QUANTIZE")
    rates = Rates(made=100)

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

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how the result is scaled, and its least and greatest value."""
        (factor,) = scale_factor(op, graph)
        return scaled_by("output", quantize_multiplier(factor)) | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output."""
        factor = quantize_multiplier(*scale_factor(op, graph))
        return _lowered(op, graph, lambda terms: loops.mbqm(terms[0], *factor))


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


def _lowered(op: Operator, graph: Graph, scaled: Callable[[Sequence[Expr]], Expr]) -> Lowered:
    """Compute each output element from the inputs' values less their zero points."""
    builder = KernelBuilder(op, graph)
    tensors = [graph.tensor(name) for name in op.inputs]
    sources = [builder.input(position, name) for position, name in enumerate("ab"[: len(tensors)])]
    y, (output,) = builder.output(), graph.results(op)
    shapes, result = [tensor.shape for tensor in tensors], output.shape
    if output.layout:
        shapes, result = [(tensor.stored,) for tensor in tensors], (output.stored,)
    with _broadcast(builder, shapes, result) as (places, place):
        terms = [
            subtract(source.wide(index), zero_point_of(tensor))
            for source, tensor, index in zip(sources, tensors, places, strict=True)
        ]
        limits = activation_range(op, output)
        y[place] = loops.quantized(scaled(terms), zero_point_of(output), limits)
    return builder.lowered()


@contextmanager
def _broadcast(
    builder: KernelBuilder, shapes: Sequence[Shape], result: Shape
) -> Iterator[tuple[list[Expr], Expr]]:
    """Loop over `result`: yield the index into each input and into the output."""
    extents, steps = _merged(shapes, result)
    places: list[Expr] = [Const(0)] * len(shapes)
    place: Expr = Const(0)
    with ExitStack() as nest:
        for level, (extent, step) in enumerate(zip(extents, steps, strict=True)):
            i = nest.enter_context(builder.loop(f"i{level}", 0, extent))
            inner = prod(extents[level + 1 :])
            place = builder.let(f"y{level}", add(place, multiply(i, inner)))
            places = [
                builder.let(f"x{level}", add(index, multiply(i, stride)))
                for index, stride in zip(places, step, strict=True)
            ]
        yield places, place


def _merged(shapes: Sequence[Shape], result: Shape) -> tuple[list[int], list[tuple[int, ...]]]:
    """Join neighbouring dimensions that broadcast alike.

    Returns:
        Extent of each loop, outermost first, and how far each input moves per iteration.
    """
    padded = [(1,) * (len(result) - len(shape)) + shape for shape in shapes]
    counted = [d for d in range(len(result)) if result[d] > 1]

    def spread(d: int) -> tuple[bool, ...]:
        return tuple(shape[d] > 1 for shape in padded)

    groups = [(moves, list(dims)) for moves, dims in groupby(counted, key=spread)]
    extents = [prod(result[d] for d in dims) for _, dims in groups]
    steps = [
        tuple(
            prod(shape[dims[-1] + 1 :]) if moving else 0
            for moving, shape in zip(moves, padded, strict=True)
        )
        for moves, dims in groups
    ]
    return extents, steps


_BINARY_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(),
    checks.activation,
    checks.output_shape(_broadcast_shape),
)

ADD = Add()
MUL = Mul()
QUANTIZE = Quantize()
