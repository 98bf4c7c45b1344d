# SPDX-License-Identifier: Apache-2.0
"""CONV_2D: every output channel sees every input channel.

The windows of a few neighbouring pixels are copied side by side first. So the inner loop runs over
all taps and channels of a window, every weight that it loads serves all these pixels, and nothing
is read any more when the first output is written. Where channels come in groups, or inputs have 16
bits, the taps of each pixel are gone through.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply, subtract
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Const, Expr, Lowered, Type
from atoll.isa.instruction_set import SCALAR, Arithmetic
from atoll.ops.loops import window_loops
from atoll.ops.loops.channel_loops import WORD, ChannelSums, block_width
from atoll.ops.loops.lane_loops import lane_loops, lanes_of
from atoll.ops.loops.register_tiles import block_for
from atoll.ops.loops.wide_sums import is_wide, simple_sums
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm
from atoll.ops.window import Window
from atoll.ops.windows.convolution import (
    WEIGHTS,
    Convolution,
    Sums,
    bias_type,
    tensors,
    window_options,
)
from atoll.resolve.storage_scope import GLOBAL

_MOST_TAPS = 1024
"""Longer windows are gathered one by one."""


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {**window_options(options, shapes), **bias_type(options)}


class Conv2D(Convolution):
    """CONV_2D with weights [O, kernel_h, kernel_w, I]."""

    tflite = TfliteForm(
        code="CONV_2D",
        table="Conv2DOptions",
        fields={0: 1, 1: 4, 2: 4, 3: 1, 4: 4, 5: 4, 6: 1},
        read=_options,
        constants=WEIGHTS,
    )

    parallel = ("oy", "group", "block")

    def covers(self, op: Operator, x: Tensor, weights: Tensor) -> bool:
        """Require as many input channels as the input has, or the input's in whole groups."""
        groups, rest = divmod(x.shape[3], weights.shape[3])
        return groups > 0 and rest == 0 and weights.shape[0] % groups == 0

    def groups(self, x: Tensor, weights: Tensor) -> int:
        """Return how often the weights' input channels make those of the input."""
        return x.shape[3] // weights.shape[3]

    def sums(self, op: Operator, graph: Graph, image: Sums, weights: Sums) -> Sums:
        """Multiply every patch with every filter of its group as one matrix product."""
        window, groups = Window.of(op, *weights.shape[1:3]), image.shape[3] // weights.shape[3]
        patches = window.patches(image, 0).transpose(0, 1, 2, 4, 5, 3)
        rows = patches.reshape(*patches.shape[:5], groups, -1).transpose(5, 0, 1, 2, 3, 4, 6)
        filters = weights.reshape(groups, len(weights) // groups, -1)
        products = (
            each.reshape(*patches.shape[:3], -1) @ group.T
            for each, group in zip(rows, filters, strict=True)
        )
        return np.concatenate([*products], axis=-1)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Return the loop program of cores without vectors."""
        return self.lower_for(op, graph, SCALAR)

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Loop over groups of pixels, whose windows are gathered first, and blocks of channels."""
        x, weights, y = tensors(op, graph)
        if self.groups(x, weights) > 1 or is_wide(op, graph):
            return _lower_by_taps(op, graph)
        registers = block_for(arithmetic)
        channels, height, width, depth = weights.shape
        lanes = lanes_of(op, graph, registers, channels) if registers.strips else 1
        kernel = ChannelSums(
            op,
            graph,
            folds=True,
            arithmetic=arithmetic,
            lanes=lanes,
            across=registers.strips,
        )
        window = _join_lines(window_loops.window_of(op, x.shape, y.shape, (height, width)))
        taps, places = height * width * depth, window.across.output
        together = min(kernel.pixels, places) if taps <= _MOST_TAPS else 1
        pitch = kernel.registers.padded_length(taps)
        gather = _Gather(kernel, window, weights.shape, together, pitch)
        builder = kernel.builder
        with window.lines(builder) as line:
            with builder.loop("group", 0, places // together) as group:
                first = builder.let("first", multiply(group, together))
                gather.group(line, first, together)
                _channels(kernel, gather, add(line.number, first), together, lanes)
            if places % together:
                with builder.loop("ox", places - places % together, places) as ox:
                    gather.window(line, ox, Const(0))
                    _channels(kernel, gather, add(line.number, ox), 1, lanes)
        return builder.lowered()


def _lower_by_taps(op: Operator, graph: Graph) -> Lowered:
    """Loop over pixels, groups, blocks of their output channels, and taps inside the image."""
    x, weights, y = tensors(op, graph)
    outputs, height, width, depth = weights.shape
    groups, taps = x.shape[3] // depth, height * width * depth
    window = window_loops.window_of(op, x.shape, y.shape, (height, width))
    kernel = simple_sums(op, graph)
    builder, lanes = kernel.builder, block_width(outputs // groups)
    with (
        window.pixels(builder) as pixel,
        builder.loop("part", 0, groups) as part,
        builder.loop("block", 0, outputs // groups // lanes) as block,
    ):
        first = add(multiply(part, outputs // groups), multiply(block, lanes))
        channel = builder.let("channel", first)
        target = add(multiply(pixel.number, outputs), channel)
        with (
            kernel.block(channel, lanes, [target]) as sums,
            builder.loop("ky", *pixel.rows) as ky,
            builder.loop("kx", *pixel.columns) as kx,
        ):
            place = multiply(window.source(pixel, ky, kx), x.shape[3])
            source = builder.let("source", add(place, multiply(part, depth)))
            tap = multiply(add(multiply(ky, width), kx), depth)
            start = builder.let("tap", add(multiply(channel, taps), tap))
            rows = [add(start, lane * taps) for lane in range(lanes)]
            kernel.dot(sums, kernel.x, [source], rows, depth)
    return kernel.lowered()


def _join_lines(window: window_loops.Window) -> window_loops.Window:
    """Return the window with all pixels in one line, where one reads nothing but itself."""
    if not (window.down.pointwise and window.across.pointwise):
        return window
    pixels = window.batches * window.down.output * window.across.output
    one = window_loops.Axis(input=1, output=1, kernel=1, stride=1, dilation=1, pad=0)
    return window_loops.Window(
        batches=1, down=one, across=replace(one, input=pixels, output=pixels)
    )


def _channels(kernel: ChannelSums, gather: "_Gather", first: Expr, pixels: int, lanes: int) -> None:
    """Make all channels of the gathered pixels, the first of which is `first` of the output."""
    builder, taps, channels = kernel.builder, gather.pitch, gather.channels
    places = [pixel * taps for pixel in range(pixels)]
    if kernel.registers.strips:
        for channel in lane_loops(builder, kernel.registers, channels, lanes):
            targets = [
                add(multiply(add(first, pixel), channels), channel) for pixel in range(pixels)
            ]
            with kernel.block(channel, 1, targets) as sums:
                kernel.dot(sums, gather.patches, places, [channel], taps)
        return
    width = block_width(channels, kernel.registers.channels if pixels > 1 else 4)
    with builder.loop("block", 0, channels // width) as block:
        channel = builder.let("channel", multiply(block, width))
        targets = [add(multiply(add(first, pixel), channels), channel) for pixel in range(pixels)]
        with kernel.block(channel, width, targets) as sums:
            rows = [multiply(add(channel, lane), taps) for lane in range(width)]
            kernel.dot(sums, gather.patches, places, rows, taps)


class _Gather:
    """Copies windows of the input side by side, with the zero point outside of the image.

    Attributes:
        taps: bytes of a window.
        pitch: bytes from a copy to the next; what is behind a window has weights of 0.
        channels: of the output.
        patches: the copies.
    """

    def __init__(
        self,
        kernel: ChannelSums,
        window: window_loops.Window,
        weights: tuple[int, ...],
        together: int,
        pitch: int,
    ) -> None:
        self.channels, self._height, self._width, self._depth = weights
        self.taps = self._height * self._width * self._depth
        self.pitch = pitch
        self._kernel = kernel
        self._window = window
        size = together * pitch
        self.patches = kernel.builder.allocate("patches", Type.I8, size, GLOBAL, WORD)
        if pitch != self.taps:
            with kernel.builder.loop("i", 0, size) as i:
                self.patches[i] = 0

    def group(self, line: window_loops.Line, first: Expr, pixels: int) -> None:
        """Copy the windows of some pixels of a line: in one piece where they are in one."""
        builder = self._kernel.builder
        if self._height == 1 and self._window.across.pointwise and self.pitch == self.taps:
            pixel = line.pixel(builder, first)
            source = multiply(self._window.source(pixel, 0, 0), self._depth)
            self._copy(Const(0), builder.let("source", source), Const(pixels * self.taps))
            return
        with builder.loop("pixel", 0, pixels) as number:
            self.window(line, add(first, number), number)

    def window(self, line: window_loops.Line, ox: Expr, place: Expr) -> None:
        """Copy the window of pixel `ox` of a line."""
        builder = self._kernel.builder
        pixel = line.pixel(builder, ox)
        begin = builder.let("patch", multiply(place, self.pitch))
        if pixel.rows != self._whole(self._height) or pixel.columns != self._whole(self._width):
            with builder.loop("i", 0, self.taps) as i:
                self.patches[add(begin, i)] = self._kernel.x_zero
        with (
            builder.loop("ky", *pixel.rows) as ky,
            _runs(builder, self._window, pixel, self._depth) as (kx, length),
        ):
            source = multiply(self._window.source(pixel, ky, kx), self._depth)
            tap = multiply(add(multiply(ky, self._width), kx), self._depth)
            target = builder.let("tap", add(begin, tap))
            self._copy(target, builder.let("source", source), length)

    def _copy(self, target: Expr, source: Expr, length: Expr) -> None:
        strips = self._kernel.registers.strips
        with self._kernel.builder.loop("i", 0, length, vectorized=strips) as i:
            self.patches[add(target, i)] = self._kernel.x[add(source, i)]

    @staticmethod
    def _whole(taps: int) -> tuple[Expr, Expr]:
        return Const(0), Const(taps)


@contextmanager
def _runs(
    builder: FunctionBuilder, window: window_loops.Window, pixel: window_loops.Pixel, depth: int
) -> Iterator[tuple[Expr, Expr]]:
    """Cut a kernel row into runs that are contiguous in the input: (first tap, bytes)."""
    begin, end = pixel.columns
    if window.across.dilation == 1:
        yield begin, builder.let("length", multiply(subtract(end, begin), depth))
        return
    with builder.loop("kx", begin, end) as kx:
        yield kx, Const(depth)


CONV_2D = Conv2D()
