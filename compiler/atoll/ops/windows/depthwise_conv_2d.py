# SPDX-License-Identifier: Apache-2.0
"""DEPTHWISE_CONV_2D: every output channel sees one input channel.

The rows that a line of outputs reads are copied first, with the zero point around the image: no tap
is outside then, and each weight that is loaded serves a few neighbouring pixels. Cores with vectors
make a channel in each lane; what fills no vector is made one by one. Where an input channel makes
several outputs, or a copy would be large, the taps of each pixel are gone through.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from atoll.ir.builder import Buffer, FunctionBuilder
from atoll.ir.expressions import Operand, add, multiply
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Const, Expr, Lowered, Type
from atoll.isa.instruction_set import SCALAR, Arithmetic, Vectors
from atoll.ops.loops import window_loops
from atoll.ops.loops.channel_loops import WORD, ChannelSums, block_width
from atoll.ops.loops.lane_loops import lane_loops, lanes_of
from atoll.ops.loops.register_tiles import Block, block_for
from atoll.ops.loops.wide_sums import is_wide, simple_sums
from atoll.ops.loops.window_loops import Line, Pixel, window_of
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm
from atoll.ops.window import Window
from atoll.ops.windows.convolution import WEIGHTS, Convolution, Sums, tensors, window_options
from atoll.resolve.storage_scope import GLOBAL


def _options(options: Any, shapes: Shapes) -> Attributes:
    multiplier = options.DepthMultiplier() or _multiplier(shapes)
    return {**window_options(options, shapes), "depth_multiplier": multiplier}


def _multiplier(shapes: Shapes) -> int:
    """Return the filters of each input channel, as TFLite infers them where a file says 0."""
    (x, weights), inferred = shapes[:2], 0
    if x and weights and x[-1]:
        inferred = weights[-1] // x[-1]
    return inferred


_TOGETHER = (4, 5, 3, 2)
"""Pixels that are made together if they fill a line; else the first of these, then the rest."""

_MOST_TAPS = 25
_MOST_BYTES = 16 * 2**10
"""Of a window whose taps are written out, and of the rows that are copied."""


class DepthwiseConv2D(Convolution):
    """DEPTHWISE_CONV_2D with weights [1, kernel_h, kernel_w, C * depth_multiplier]."""

    tflite = TfliteForm(
        code="DEPTHWISE_CONV_2D",
        table="DepthwiseConv2DOptions",
        fields={0: 1, 1: 4, 2: 4, 3: 4, 4: 1, 5: 4, 6: 4},
        read=_options,
        constants=WEIGHTS,
    )
    parallel = ("oy", "group", "channel", "block")
    channel_axis = 3
    wide_biases = ("int64",)

    def covers(self, op: Operator, x: Tensor, weights: Tensor) -> bool:
        """Require `depth_multiplier` filters for each input channel."""
        outputs = x.shape[3] * self.depth_multiplier(op)
        return (weights.shape[0], weights.shape[3]) == (1, outputs)

    def depth_multiplier(self, op: Operator) -> int:
        """Return how many outputs each input channel makes."""
        return op.integer("depth_multiplier")

    def sums(self, op: Operator, graph: Graph, image: Sums, weights: Sums) -> Sums:
        """Add up tap by tap; channel c makes the outputs from c * depth_multiplier on."""
        window = Window.of(op, *weights.shape[1:3])
        patches = window.patches(image, 0)
        batch, rows, columns, channels = patches.shape[:4]
        taps = weights.reshape(window.kernel_h, window.kernel_w, channels, -1)
        total = np.zeros((batch, rows, columns, channels, taps.shape[-1]))
        for row, column in np.ndindex(window.kernel_h, window.kernel_w):
            total += patches[..., row, column, np.newaxis] * taps[row, column]
        return total.reshape(batch, rows, columns, -1)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Return the loop program of cores without vectors."""
        return self.lower_for(op, graph, SCALAR)

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Loop over lines of pixels, whose rows are copied first, groups of them, and channels."""
        x, weights, y = tensors(op, graph)
        _, height, width, channels = weights.shape
        window = window_of(op, x.shape, y.shape, (height, width))
        small = height * width <= _MOST_TAPS and _copied_pixels(window) * channels <= _MOST_BYTES
        if channels != x.shape[3] or not small or is_wide(op, graph):
            return _lower_by_taps(op, graph, window)
        registers, axis = block_for(arithmetic), self.channel_axis
        lanes = lanes_of(op, graph, registers, channels)
        if not registers.strips:
            arithmetic = replace(arithmetic, vectors=Vectors.NONE)
        kernel = ChannelSums(op, graph, folds=True, axis=axis, arithmetic=arithmetic, lanes=lanes)
        builder, places = kernel.builder, window.across.output
        most = kernel.pixels if registers.strips else max(_TOGETHER)
        sizes = tuple(n for n in _TOGETHER if n <= most)
        together = next((n for n in sizes if places % n == 0), min(sizes[0], places))
        rows = _Rows(kernel, window, channels, registers, lanes)
        with window.lines(builder) as line:
            rows.copy(line)
            with builder.loop("group", 0, places // together) as group:
                first = builder.let("first", multiply(group, together))
                rows.channels(line, first, together)
            if rest := places % together:
                rows.channels(line, Const(places - rest), rest)
        return builder.lowered()


def _lower_by_taps(op: Operator, graph: Graph, window: window_loops.Window) -> Lowered:
    """Loop over pixels, blocks of output channels, and taps inside the image."""
    x, weights, _ = tensors(op, graph)
    width, channels = weights.shape[2:]
    kernel, depth = simple_sums(op, graph, DepthwiseConv2D.channel_axis), x.shape[3]
    builder = kernel.builder
    with (
        window.pixels(builder) as pixel,
        _blocks(builder, depth, channels) as (first, sources),
        kernel.block(first, len(sources), [_target(pixel, channels, first)]) as (sums,),
        builder.loop("ky", *pixel.rows) as ky,
        builder.loop("kx", *pixel.columns) as kx,
    ):
        source = builder.let("source", multiply(window.source(pixel, ky, kx), depth))
        tap = multiply(add(multiply(ky, width), kx), channels)
        row = builder.let("tap", add(tap, first))
        for lane, (total, channel) in enumerate(zip(sums, sources, strict=True)):
            weight = kernel.weights.wide(add(row, lane))
            value = kernel.value(kernel.x, add(source, channel))
            kernel.add_product(total, value, weight)
    return kernel.lowered()


def _columns(window: window_loops.Window) -> int:
    """Return how many pixels of a row a line of outputs reads, those outside counted."""
    across = window.across
    return (across.output - 1) * across.stride + (across.kernel - 1) * across.dilation + 1


def _copied_pixels(window: window_loops.Window) -> int:
    """Return how many pixels a line of outputs reads."""
    return window.down.kernel * _columns(window)


class _Rows:
    """The rows of the image that a line of outputs reads, with the zero point around the image."""

    def __init__(
        self,
        kernel: ChannelSums,
        window: window_loops.Window,
        channels: int,
        registers: Block,
        lanes: int,
    ) -> None:
        """Make room for a copy; what lies beside the image stays as it is set here."""
        self._kernel = kernel
        self._window = window
        self._channels = channels
        self._registers = registers
        self._lanes = lanes
        self._width = _columns(window)
        self._inside = min(self._width - window.across.pad, window.across.input)
        size = _copied_pixels(window) * channels
        self._copies = kernel.builder.allocate("rows", Type.I8, size, GLOBAL, WORD)
        if self._inside < self._width:
            self._fill(0, size)

    def copy(self, line: Line) -> None:
        """Copy what a line reads."""
        builder, window, pitch = self._kernel.builder, self._window, self._width * self._channels
        before, after = line.rows
        length = self._inside * self._channels
        with builder.loop("above", 0, before) as ky:
            self._fill(multiply(ky, pitch), pitch)
        with builder.loop("ky", before, after) as ky:
            row = multiply(add(line.top, multiply(ky, window.down.dilation)), window.across.input)
            source = builder.let("source", multiply(row, self._channels))
            begin = add(multiply(ky, pitch), window.across.pad * self._channels)
            target = builder.let("target", begin)
            with builder.loop("i", 0, length, vectorized=self._registers.strips) as i:
                self._copies[add(target, i)] = self._kernel.x[add(source, i)]
        with builder.loop("below", after, window.down.kernel) as ky:
            self._fill(multiply(ky, pitch), pitch)

    def channels(self, line: Line, first: Expr, pixels: int) -> None:
        """Make all channels of some pixels of a line, the first of which is `first`."""
        builder = self._kernel.builder
        for channel in lane_loops(builder, self._registers, self._channels, self._lanes):
            self._channel(channel, line, first, pixels)

    def _channel(self, channel: Expr, line: Line, first: Expr, pixels: int) -> None:
        """Make one channel, or those in the lanes of vectors."""
        kernel, builder = self._kernel, self._kernel.builder
        channels, across = self._channels, self._window.across
        number = multiply(add(line.number, first), channels)
        target = builder.let("target", add(number, channel))
        place = multiply(multiply(first, across.stride), channels)
        begin = builder.let("begin", add(place, channel))
        targets = [add(target, pixel * channels) for pixel in range(pixels)]
        with kernel.block(channel, 1, targets) as sums:
            totals = [total for (total,) in sums]
            for ky in range(self._window.down.kernel):
                self._add_row(totals, begin, channel, ky)

    def _add_row(self, sums: Sequence[Buffer], begin: Expr, channel: Expr, ky: int) -> None:
        """Add the products of a kernel row, column by column of what it reads."""
        kernel, across = self._kernel, self._window.across

        @cache
        def weight(kx: int) -> Expr:
            place = add(channel, (ky * across.kernel + kx) * self._channels)
            return kernel.builder.let("weight", kernel.weights.wide(place))

        @cache
        def value(column: int) -> Expr:
            place = add(begin, (ky * self._width + column) * self._channels)
            return kernel.builder.let("value", kernel.value(self._copies, place))

        products = [
            (pixel * across.stride + kx * across.dilation, kx, pixel)
            for kx, pixel in product(range(across.kernel), range(len(sums)))
        ]
        kernel.add_products(
            (sums[pixel], value(column), weight(kx)) for column, kx, pixel in sorted(products)
        )

    def _fill(self, begin: Operand, length: int) -> None:
        with self._kernel.builder.loop("i", 0, length) as i:
            self._copies[add(begin, i)] = self._kernel.x_zero


def _target(pixel: Pixel, channels: int, first: Expr) -> Expr:
    return add(multiply(pixel.number, channels), first)


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
