"""DEPTHWISE_CONV_2D: every output channel sees one input channel."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Expr, Lowered
from atoll.ops.channel_loops import ChannelSums, block_width
from atoll.ops.convolution import WEIGHTS, Convolution, Sums, tensors, window_options
from atoll.ops.kind import Rates
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm
from atoll.ops.window import Window
from atoll.ops.window_loops import window_of


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {**window_options(options, shapes), "depth_multiplier": options.DepthMultiplier()}


class DepthwiseConv2D(Convolution):
    """DEPTHWISE_CONV_2D with weights [1, kernel_h, kernel_w, C * depth_multiplier]."""

    tflite = TfliteForm(
        code="DEPTHWISE_CONV_2D",
        table="DepthwiseConv2DOptions",
        fields={0: 1, 1: 4, 2: 4, 3: 4, 4: 1, 5: 4, 6: 4},
        read=_options,
        constants=WEIGHTS,
    )
    rates = Rates(mac=50, made=80)
    channel_axis = 3

    def covers(self, op: Operator, x: Tensor, weights: Tensor) -> bool:
        """Require `depth_multiplier` filters for each input channel."""
        outputs = x.shape[3] * self.depth_multiplier(op)
        return (weights.shape[0], weights.shape[3]) == (1, outputs)

    def depth_multiplier(self, op: Operator) -> int:
        """Return how many outputs each input channel makes."""
        return op.integer("depth_multiplier")

    def sums(self, image: Sums, weights: Sums, window: Window) -> Sums:
        """Add up tap by tap; channel c makes the outputs from c * depth_multiplier on."""
        patches = window.patches(image, 0)
        batch, rows, columns, channels = patches.shape[:4]
        taps = weights.reshape(window.kernel_h, window.kernel_w, channels, -1)
        total = np.zeros((batch, rows, columns, channels, taps.shape[-1]))
        for row, column in np.ndindex(window.kernel_h, window.kernel_w):
            total += patches[..., row, column, np.newaxis] * taps[row, column]
        return total.reshape(batch, rows, columns, -1)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over pixels, blocks of output channels, and taps."""
        x, weights, y = tensors(op, graph)
        _, height, width, channels = weights.shape
        window = window_of(op, x.shape, y.shape, (height, width))
        kernel, depth = ChannelSums(op, graph), x.shape[3]
        builder = kernel.builder
        with (
            window.pixels(builder) as pixel,
            _blocks(builder, depth, channels) as (first, sources),
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
def _blocks(
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


DEPTHWISE_CONV_2D = DepthwiseConv2D()
