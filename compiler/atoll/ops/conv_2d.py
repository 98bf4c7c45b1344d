"""CONV_2D: every output channel sees every input channel.

Taps outside the image are cut off before the inner loops. Where the dilation allows it, one
inner loop runs over all taps and channels of a kernel row, which are contiguous in memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply, subtract
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Const, Expr, Lowered
from atoll.ops import window_loops
from atoll.ops.channel_loops import ChannelSums, block_width
from atoll.ops.convolution import WEIGHTS, Convolution, Sums, tensors, window_options
from atoll.ops.tflite_form import TfliteForm
from atoll.ops.window import Window


class Conv2D(Convolution):
    """CONV_2D with weights [O, kernel_h, kernel_w, I]."""

    tflite = TfliteForm(
        code="CONV_2D",
        table="Conv2DOptions",
        fields={0: 1, 1: 4, 2: 4, 3: 1, 4: 4, 5: 4},
        read=window_options,
        constants=WEIGHTS,
    )

    def covers(self, op: Operator, x: Tensor, weights: Tensor) -> bool:
        """Require as many input channels as the input has."""
        return x.shape[3] == weights.shape[3]

    def sums(self, image: Sums, weights: Sums, window: Window) -> Sums:
        """Multiply every patch with every filter as one matrix product."""
        patches = window.patches(image, 0).transpose(0, 1, 2, 4, 5, 3)
        rows = patches.reshape(*patches.shape[:3], -1)
        product: Sums = rows @ weights.reshape(len(weights), -1).T
        return product

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over pixels, blocks of output channels, and rows of the kernel."""
        x, weights, y = tensors(op, graph)
        channels, height, width, depth = weights.shape
        window = window_loops.window_of(op, x.shape, y.shape, (height, width))
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
    builder: FunctionBuilder, window: window_loops.Window, pixel: window_loops.Pixel, depth: int
) -> Iterator[tuple[Expr, Expr]]:
    """Cut a kernel row into runs that are contiguous in input and weights: (first tap, bytes)."""
    begin, end = pixel.columns
    if window.across.dilation == 1:
        yield begin, builder.let("length", multiply(subtract(end, begin), depth))
        return
    with builder.loop("kx", begin, end) as kx:
        yield kx, Const(depth)


CONV_2D = Conv2D()
