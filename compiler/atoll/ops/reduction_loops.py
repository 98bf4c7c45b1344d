"""Loop program of MEAN: a sum for each kept index, scaled once."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
from math import prod

from atoll.ir.expressions import add, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered, Type
from atoll.ops.fixed_point_loops import mbqm, quantized
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.quantization import INT8_MAX, INT8_MIN, zero_point_of
from atoll.ops.reduction import mean_axes, mean_scaling

Extents = list[tuple[int, int]]


def lower_mean(op: Operator, graph: Graph) -> Lowered:
    """Lower a mean over any axes."""
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
        scaled = mbqm(total[0], *mean_scaling(op, graph))
        y[place] = quantized(scaled, zero_point_of(output), (INT8_MIN, INT8_MAX))
    return builder.lowered()


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
