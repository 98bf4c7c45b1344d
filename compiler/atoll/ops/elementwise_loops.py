"""Loop programs of ADD, MUL and QUANTIZE; a loop spans dimensions that broadcast alike."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from math import prod

from atoll.ir.expressions import add, binary, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered, Operation
from atoll.ops.elementwise import ADD_LEFT_SHIFT, add_factors, scale_factor
from atoll.ops.fixed_point_loops import mbqm, quantized
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.quantization import activation_range, quantize_multiplier, zero_point_of

Shape = tuple[int, ...]


def lower_add(op: Operator, graph: Graph) -> Lowered:
    """Lower an addition with broadcasting."""
    *factors, result = (quantize_multiplier(factor) for factor in add_factors(op, graph))

    def total(terms: Sequence[Expr]) -> Expr:
        shifted = (binary(Operation.SHL, term, ADD_LEFT_SHIFT) for term in terms)
        scaled = [mbqm(term, *factor) for term, factor in zip(shifted, factors, strict=True)]
        return mbqm(add(*scaled), *result)

    return _elementwise(op, graph, total)


def lower_mul(op: Operator, graph: Graph) -> Lowered:
    """Lower a multiplication with broadcasting."""
    factor = quantize_multiplier(*scale_factor(op, graph))
    return _elementwise(op, graph, lambda terms: mbqm(multiply(*terms), *factor))


def lower_quantize(op: Operator, graph: Graph) -> Lowered:
    """Lower a requantisation from int8 to int8."""
    factor = quantize_multiplier(*scale_factor(op, graph))
    return _elementwise(op, graph, lambda terms: mbqm(terms[0], *factor))


def _elementwise(op: Operator, graph: Graph, scaled: Callable[[Sequence[Expr]], Expr]) -> Lowered:
    """Compute each output element from the inputs' values less their zero points."""
    builder = KernelBuilder(op, graph)
    tensors = [graph.tensor(name) for name in op.inputs]
    sources = [builder.input(position, name) for position, name in enumerate("ab"[: len(tensors)])]
    y, (output,) = builder.output(), graph.results(op)
    with _broadcast(builder, [tensor.shape for tensor in tensors], output.shape) as (places, place):
        terms = [
            subtract(source.wide(index), zero_point_of(tensor))
            for source, tensor, index in zip(sources, tensors, places, strict=True)
        ]
        limits = activation_range(op, output)
        y[place] = quantized(scaled(terms), zero_point_of(output), limits)
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
