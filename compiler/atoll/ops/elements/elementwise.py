# SPDX-License-Identifier: Apache-2.0
"""What elementwise kinds share: elements depend on one of every input."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import binary, subtract
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ir.tir import Expr, Lowered, Operation, PrimFunc, Type
from atoll.ops import checks
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.loops.broadcast_loops import broadcast
from atoll.ops.quantization import (
    Integers,
    activation_range,
    scale_of,
    zero_point_of,
)
from atoll.ops.rounding import rounding_feature

VALUES = np.arange(256, dtype=np.uint8).view(np.int8)
"""The values of int8 in the order of their bytes as numbers without a sign."""

NEIGHBOURS, LONG_NEIGHBOURS = 16, 4
"""Elements that an iteration of the innermost loop makes at most, of those that divide it: where an
element takes a dozen instructions, and where it is rescaled."""

_NAMES = "abcdefghijklmnop"
"""Of the inputs, in kernels."""

Result = Callable[[Sequence[Expr]], Expr]
"""Makes an element of the output from those of the inputs, as `I32`; int64 is `I64`."""

Prepare = Callable[[KernelBuilder], Result]
"""Adds to a kernel what a `Result` needs."""


class Elementwise(OperatorKind):
    """What the kinds share."""

    parallel = ("i0", "i1", "lane")
    any_layout = True

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return counts of elements, of bytes of the widest, and whether an input is smaller."""
        (output,) = graph.results(op)
        inputs = [x for x in graph.operands(op) if x is not None]
        smaller = any(x.shape != output.shape for x in inputs)
        counts = {"macs": 0, "elements": output.elements, "broadcast": int(smaller)}
        counts["element_bytes"] = max(ITEM_BYTES[x.dtype] for x in (*inputs, output))
        return {**counts, **rounding_feature(op)}

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
        """Let the output take the place of an input that is not broadcast, nor of narrower type."""
        (output,) = graph.results(op)
        tensors = (require_input(op, graph, position) for position in range(len(op.inputs)))
        return tuple(
            0
            if x.elements == output.elements and ITEM_BYTES[x.dtype] >= ITEM_BYTES[output.dtype]
            else None
            for x in tensors
        )


def scale_factor(op: Operator, graph: Graph) -> tuple[float]:
    """Return the real factor of mul and quantize: product of input scales / output scale."""
    product = 1.0
    for tensor in graph.operands(op):
        assert tensor is not None
        product *= scale_of(tensor)
    return (product / scale_of(graph.results(op)[0]),)


def centre(op: Operator, graph: Graph, inputs: Sequence[Array | None]) -> list[Integers]:
    """Return the input values less their zero points."""
    return [
        np.asarray(values, np.int64) - zero_point_of(require_input(op, graph, position))
        for position, values in enumerate(inputs)
    ]


def finish(op: Operator, graph: Graph, scaled: Integers) -> Array:
    """Add the output's zero point and clamp."""
    (output,) = graph.results(op)
    clamped = np.clip(scaled + zero_point_of(output), *activation_range(op, output))
    return clamped.astype(output.dtype)


def broadcast_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    """Return the shape that all inputs broadcast to, None if there is none."""
    shapes = [tensor.shape for tensor in graph.operands(op) if tensor is not None]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def symmetric(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require zero point 0 of each type but int8."""
    yield from _symmetric(op, (*graph.operands(op), *graph.results(op)))


def symmetric_results(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require it of results alone."""
    yield from _symmetric(op, graph.results(op))


def _symmetric(op: Operator, tensors: Iterable[Tensor | None]) -> Iterator[Fault]:
    for tensor in tensors:
        if tensor is None or tensor.dtype == "int8" or tensor.quantization is None:
            continue
        if any(tensor.quantization.zero_points):
            message = f"has zero point {zero_point_of(tensor)}; that of {tensor.dtype} is 0"
            yield checks.fault(op, message, tensor=tensor)


def large(op: Operator, graph: Graph) -> bool:
    """Tell whether a table of the results has no more entries than are looked up."""
    return graph.results(op)[0].elements >= len(VALUES)


def compute_centred(
    op: Operator, graph: Graph, scaled: Callable[[Sequence[Expr]], Expr]
) -> Prepare:
    """Return what computes a result from the inputs' values less their zero points."""
    tensors, (output,) = [graph.tensor(name) for name in op.inputs], graph.results(op)

    def result(values: Sequence[Expr]) -> Expr:
        terms = [
            subtract(value, zero_point_of(tensor))
            for value, tensor in zip(values, tensors, strict=True)
        ]
        return loops.quantize(scaled(terms), zero_point_of(output), activation_range(op, output))

    return lambda builder: result


def entry_of(value: Expr) -> Expr:
    """Return where a table in the order of `VALUES` has what belongs to a value."""
    return binary(Operation.AND, value, len(VALUES) - 1)


def lower_elements(
    op: Operator,
    graph: Graph,
    prepare: Prepare,
    most: int = NEIGHBOURS,
    library: tuple[PrimFunc, ...] = (),
) -> Lowered:
    """Compute each output element from the inputs' values, at most so many in an iteration.

    `library` holds what results may call.
    """
    builder = KernelBuilder(op, graph)
    tensors = [graph.tensor(name) for name in op.inputs]
    sources = [
        builder.input(position, name) for position, name in enumerate(_NAMES[: len(tensors)])
    ]
    result_of = prepare(builder)
    y, (output,) = builder.output(), graph.results(op)
    shapes, result = [tensor.shape for tensor in tensors], output.shape
    if output.layout:
        shapes, result = [(tensor.stored,) for tensor in tensors], (output.stored,)
    with broadcast(builder, shapes, result, most) as elements:
        for places, place in elements:
            values = [
                source[index] if source.type is Type.I64 else source.wide(index)
                for source, index in zip(sources, places, strict=True)
            ]
            y[place] = result_of(values)
    return builder.lowered(library)


BINARY_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.activations(types=("int8", "int16")),
    checks.same_type(0, 1),
    checks.activation,
    checks.output_shape(broadcast_shape),
    symmetric,
)
