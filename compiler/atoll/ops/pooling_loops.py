"""Loop programs of AVERAGE_POOL_2D and MAX_POOL_2D."""

from collections.abc import Callable

from atoll.ir.expressions import (
    add,
    binary,
    clamp,
    maximum,
    multiply,
    select,
    subtract,
)
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation, Type
from atoll.ops.channel_loops import block_width
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.quantization import INT8_MIN, activation_range
from atoll.ops.window_loops import Pixel, window_of


def lower_average_pool_2d(op: Operator, graph: Graph) -> Lowered:
    """Lower a mean over the taps inside the image, halves rounded away from zero."""

    def mean(builder: KernelBuilder, pixel: Pixel) -> Callable[[Expr], Expr]:
        rows, columns = (subtract(end, begin) for begin, end in (pixel.rows, pixel.columns))
        taps = builder.let("taps", maximum(multiply(rows, columns), 1))
        return lambda total: rounded_quotient(total, taps)

    return _pooled(op, graph, start=0, combine=add, finish=mean)


def lower_max_pool_2d(op: Operator, graph: Graph) -> Lowered:
    """Lower a maximum over the taps inside the image."""
    return _pooled(
        op,
        graph,
        start=INT8_MIN,
        combine=maximum,
        finish=lambda builder, pixel: lambda value: value,
    )


def rounded_quotient(total: Expr, count: Expr) -> Expr:
    """Divide by a positive count, halves away from zero; `total` is far from the limits."""
    half = binary(Operation.SHR, count, 1)
    nudged = select(binary(Operation.LT, 0, total), add(total, half), subtract(total, half))
    return binary(Operation.DIV, nudged, count)


def _pooled(
    op: Operator,
    graph: Graph,
    *,
    start: int,
    combine: Callable[[Expr, Expr], Expr],
    finish: Callable[[KernelBuilder, Pixel], Callable[[Expr], Expr]],
) -> Lowered:
    """Fold each window and channel, several channels at once."""
    source, (output,) = graph.tensor(op.inputs[0]), graph.results(op)
    builder, depth = KernelBuilder(op, graph), source.shape[3]
    x, y = builder.input(0, "x"), builder.output()
    filters = (op.integer("filter_h"), op.integer("filter_w"))
    window, lanes = window_of(op, source.shape, output.shape, filters), block_width(depth)
    limits = activation_range(op, output)
    with window.pixels(builder) as pixel:
        value = finish(builder, pixel)
        with builder.loop("block", 0, depth // lanes) as block:
            first = builder.let("channel", multiply(block, lanes))
            totals = [builder.allocate(f"total{lane}", Type.I32, 1) for lane in range(lanes)]
            for total in totals:
                total[0] = start
            with builder.loop("ky", *pixel.rows) as ky, builder.loop("kx", *pixel.columns) as kx:
                place = add(multiply(window.source(pixel, ky, kx), depth), first)
                base = builder.let("source", place)
                for lane, total in enumerate(totals):
                    total[0] = combine(total[0], x.wide(add(base, lane)))
            target = add(multiply(pixel.number, depth), first)
            for lane, total in enumerate(totals):
                y[add(target, lane)] = clamp(value(total[0]), *limits)
    return builder.lowered()
