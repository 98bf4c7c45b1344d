"""MEAN over constant axes: one multiplication divides by the count and requantises."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from math import prod
from typing import Any

import numpy as np

from atoll.errors import Fault
from atoll.ir.expressions import add, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered, Type
from atoll.ops import checks
from atoll.ops.checks import required
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind, Rates
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    mbqm,
    quantize_multiplier,
    scale_of,
    scaled_by,
    zero_point_of,
)
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm

Extents = list[tuple[int, int]]


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"keep_dims": bool(options.KeepDims())}


class Mean(OperatorKind):
    """MEAN; the second input holds the axes, which may count from the end."""

    tflite = TfliteForm(
        code="MEAN", table="ReducerOptions", fields={0: 1}, read=_options, constants={1: "axes"}
    )
    rates = Rates(read=26)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 and constant axes."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how many values make one; there are no multiply-accumulates."""
        return {"macs": 0, "reduced": reduced_elements(op, graph)}

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how sums are scaled."""
        return scaled_by("output", mean_scaling(op, graph))

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Scale the sums of the values less their zero point."""
        x, (output,) = required(op, graph, 0), graph.results(op)
        centred = np.asarray(inputs[0], np.int64) - zero_point_of(x)
        scaled = mbqm(centred.sum(axis=mean_axes(op, graph)), *mean_scaling(op, graph))
        result = np.clip(scaled + zero_point_of(output), INT8_MIN, INT8_MAX)
        return (result.astype(np.int8).reshape(output.shape),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place: means are written as fast as values go, or slower.

        All that one mean needs is read before it is written, and the values of the next ones lie
        above it.
        """
        return (0, *(None,) * (len(op.inputs) - 1))

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Sum up for each index that is kept, and scale once."""
        source, (output,) = graph.tensor(op.inputs[0]), graph.results(op)
        kept, reduced = _split(source.shape, mean_axes(op, graph))
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        with _nest(builder, "kept", kept) as (base, place):
            total = builder.allocate("total", Type.I32, 1)
            total[0] = 0
            with _nest(builder, "reduced", reduced) as (offset, _):
                value = subtract(x.wide(add(base, offset)), zero_point_of(source))
                total[0] = add(total[0], value)
            scaled = loops.mbqm(total[0], *mean_scaling(op, graph))
            y[place] = loops.quantized(scaled, zero_point_of(output), (INT8_MIN, INT8_MAX))
        return builder.lowered()


def mean_axes(op: Operator, graph: Graph) -> tuple[int, ...]:
    """Return the dimensions that vanish, ascending, each once."""
    dimensions = len(required(op, graph, 0).shape)
    axes = required(op, graph, 1).array.astype(np.int64).reshape(-1).tolist()
    return tuple(sorted({axis % dimensions for axis in axes}))


def reduced_elements(op: Operator, graph: Graph) -> int:
    """Count the values that make one mean."""
    shape = required(op, graph, 0).shape
    return prod(shape[axis] for axis in mean_axes(op, graph))


def mean_scaling(op: Operator, graph: Graph) -> tuple[int, int]:
    """Return (multiplier, shift) that turn a sum into a requantised mean."""
    (factor,) = _factor(op, graph)
    multiplier, shift = quantize_multiplier(factor)
    count = reduced_elements(op, graph)
    gain = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << gain) // count, shift - gain


def _factor(op: Operator, graph: Graph) -> tuple[float]:
    (output,) = graph.results(op)
    return (scale_of(required(op, graph, 0)) / scale_of(output),)


def _axes(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, table = required(op, graph, 0), required(op, graph, 1)
    dimensions = len(x.shape)
    axes = table.array.astype(np.int64).reshape(-1).tolist()
    if not axes or not all(-dimensions <= axis < dimensions for axis in axes):
        message = f"holds axes {axes}, which do not fit a shape of {dimensions} dimensions"
        yield checks.fault(op, message, tensor=table)


def _output_shape(op: Operator, graph: Graph) -> tuple[int, ...]:
    axes, keep = mean_axes(op, graph), bool(op.attributes["keep_dims"])
    extents = enumerate(required(op, graph, 0).shape)
    return tuple(
        1 if axis in axes else extent for axis, extent in extents if keep or axis not in axes
    )


def _split(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Extents, Extents]:
    """Return (extent, stride) of the kept and of the reduced dimensions, neighbours joined."""
    kept: Extents = []
    reduced: Extents = []
    for vanishes, group in groupby(range(len(shape)), key=lambda axis: axis in axes):
        dimensions = list(group)
        extent = prod(shape[axis] for axis in dimensions)
        (reduced if vanishes else kept).append((extent, prod(shape[dimensions[-1] + 1 :])))
    return kept, reduced


@contextmanager
def _nest(builder: KernelBuilder, name: str, extents: Extents) -> Iterator[tuple[Expr, Expr]]:
    """Loop over some dimensions: yield the offset in the input, and how many went before."""
    offset: Expr = Const(0)
    place: Expr = Const(0)
    with ExitStack() as nest:
        for level, (extent, stride) in enumerate(extents):
            i = nest.enter_context(builder.loop(f"{name}{level}", 0, extent))
            offset = add(offset, multiply(i, stride))
            place = add(multiply(place, extent), i)
        yield builder.let(f"{name}_offset", offset), place


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(0),
    checks.constant(1, "int32"),
    _axes,
    checks.output_shape(_output_shape),
    checks.factors(_factor),
)

MEAN = Mean()
