"""Loop programs of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED.

Taps outside the image are cut off before the inner loops. Where the dilation allows it, one
inner loop runs over all taps and channels of a kernel row, which are contiguous in memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered
from atoll.ops.channel_loops import ChannelSums, block_width
from atoll.ops.window_loops import Pixel, Window, window_of


def lower_conv_2d(op: Operator, graph: Graph) -> Lowered:
    """Lower an NHWC convolution with OHWI weights."""
    x, (channels, height, width, depth), y = _shapes(op, graph)
    window = window_of(op, x, y, (height, width))
    kernel, lanes = ChannelSums(op, graph), block_width(channels)
    builder, taps = kernel.builder, height * width * depth
    with (
        window.pixels(builder) as pixel,
        builder.loop("block", 0, channels // lanes) as block,
    ):
        first = builder.let("channel", multiply(block, lanes))
        with (
            kernel.block(first, lanes, add(multiply(pixel.number, channels), first)) as sums,
            builder.loop("ky", *pixel.rows) as ky,
            _runs(builder, window, pixel, depth) as (kx, length),
        ):
            source = builder.let("source", multiply(window.source(pixel, ky, kx), depth))
            tap = builder.let("tap", multiply(add(multiply(ky, width), kx), depth))
            rows = [add(multiply(add(first, lane), taps), tap) for lane in range(lanes)]
            kernel.dot(sums, source, rows, length)
    return builder.lowered()


@contextmanager
def _runs(
    builder: FunctionBuilder, window: Window, pixel: Pixel, depth: int
) -> Iterator[tuple[Expr, Expr]]:
    """Cut a kernel row into runs that are contiguous in input and weights: (first tap, bytes)."""
    begin, end = pixel.columns
    if window.across.dilation == 1:
        yield begin, builder.let("length", multiply(subtract(end, begin), depth))
        return
    with builder.loop("kx", begin, end) as kx:
        yield kx, Const(depth)


def lower_depthwise_conv_2d(op: Operator, graph: Graph) -> Lowered:
    """Lower an NHWC depthwise convolution with weights [1, height, width, channels]."""
    x, (_, height, width, channels), y = _shapes(op, graph)
    window = window_of(op, x, y, (height, width))
    kernel, depth = ChannelSums(op, graph), x[3]
    builder = kernel.builder
    with (
        window.pixels(builder) as pixel,
        _depthwise_blocks(builder, depth, channels) as (first, sources),
        kernel.block(first, len(sources), add(multiply(pixel.number, channels), first)) as sums,
        builder.loop("ky", *pixel.rows) as ky,
        builder.loop("kx", *pixel.columns) as kx,
    ):
        source = builder.let("source", multiply(window.source(pixel, ky, kx), depth))
        tap = multiply(add(multiply(ky, width), kx), channels)
        row = builder.let("tap", add(tap, first))
        for lane, (total, channel) in enumerate(zip(sums, sources, strict=True)):
            product = multiply(
                kernel.input(add(source, channel)), kernel.weights.wide(add(row, lane))
            )
            total[0] = add(total[0], product)
    return builder.lowered()


@contextmanager
def _depthwise_blocks(
    builder: FunctionBuilder, depth: int, channels: int
) -> Iterator[tuple[Expr, list[Expr]]]:
    """Loop over blocks of output channels: the first one, and the input channel of each."""
    multiplier = channels // depth
    if multiplier == 1:
        lanes = block_width(channels)
        with builder.loop("block", 0, channels // lanes) as block:
            first = builder.let("channel", multiply(block, lanes))
            yield first, [add(first, lane) for lane in range(lanes)]
        return
    lanes = block_width(multiplier)
    with (
        builder.loop("input", 0, depth) as channel,
        builder.loop("block", 0, multiplier // lanes) as block,
    ):
        first = add(multiply(channel, multiplier), multiply(block, lanes))
        yield builder.let("channel", first), [channel] * lanes


def lower_fully_connected(op: Operator, graph: Graph) -> Lowered:
    """Lower a dense layer with weights [outputs, inputs] over all rows of its input."""
    outputs, inputs = graph.tensor(op.inputs[1]).shape
    (y,) = graph.results(op)
    kernel, lanes = ChannelSums(op, graph), block_width(outputs)
    builder = kernel.builder
    with (
        builder.loop("row", 0, y.elements // outputs) as row,
        builder.loop("block", 0, outputs // lanes) as block,
    ):
        first = builder.let("channel", multiply(block, lanes))
        with kernel.block(first, lanes, add(multiply(row, outputs), first)) as sums:
            rows = [multiply(add(first, lane), inputs) for lane in range(lanes)]
            kernel.dot(sums, multiply(row, inputs), rows, inputs)
    return builder.lowered()


def _shapes(op: Operator, graph: Graph) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of input, weights and output."""
    x, weights = (graph.tensor(name).shape for name in op.inputs[:2])
    return x, weights, graph.tensor(op.outputs[0]).shape
