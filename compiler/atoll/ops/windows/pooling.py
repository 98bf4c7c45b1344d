# SPDX-License-Identifier: Apache-2.0
"""AVERAGE_POOL_2D and MAX_POOL_2D: one value per window and channel; padding does not count."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from atoll.ir.expressions import add, binary, cast, clamp, maximum, multiply, select, subtract
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ir.tir import Expr, Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.by_rows import RowWork, Span, window_rows
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind
from atoll.ops.loops.channel_loops import block_width
from atoll.ops.loops.window_loops import Pixel, window_of
from atoll.ops.overlap import window_distance
from atoll.ops.quantization import LIMITS, Integers, activation_range, bounds_of, zero_point_of
from atoll.ops.rounding import rounding_feature, rounds_to_even
from atoll.ops.tflite_form import (
    Attributes,
    Shapes,
    TfliteForm,
    activation,
    height_and_width,
    steps,
)
from atoll.ops.window import Window
from atoll.ops.windows import window_rules


def _options(options: Any, shapes: Shapes) -> Attributes:
    kernel = (options.FilterHeight(), options.FilterWidth())
    return {
        **steps(options, height_and_width(shapes, 0), kernel, (1, 1)),
        "filter_h": kernel[0],
        "filter_w": kernel[1],
        "activation": activation(options),
    }


LEAST = -(2**15)
"""No value is less."""

_TABLE = {0: 1, 1: 4, 2: 4, 3: 4, 4: 4, 5: 1}


class Pooling(OperatorKind):
    """What the two kinds share; a subclass says how a window becomes one value."""

    parallel = ("oy", "ox", "block")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 or int16 [N, H, W, C] with input and output quantised alike."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the window and the extents; there are no multiply-accumulates."""
        batches, in_height, in_width, channels = require_input(op, graph, 0).shape
        _, out_height, out_width, _ = graph.results(op)[0].shape
        return {
            **_window(op).features(),
            "batches": batches,
            "in_height": in_height,
            "in_width": in_width,
            "in_channels": channels,
            "out_height": out_height,
            "out_width": out_width,
            "out_channels": channels,
            "macs": 0,
        }

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the least and the greatest value of the result."""
        return bounds_of(op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Pool every window."""
        (output,) = graph.results(op)
        pooled = self.pool_windows(np.asarray(inputs[0], np.int64), op, graph)
        return (np.clip(pooled, *activation_range(op, output)).astype(output.dtype),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep the window of the current pixel until it is done."""
        x = require_input(op, graph, 0)
        pixel = x.shape[3] * ITEM_BYTES[x.dtype]
        return (window_distance((*x.shape[:3], pixel), _window(op), pixel),)

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Read the windows of those rows."""
        x = require_input(op, graph, 0)
        return window_rows(op, _window(op), x.shape[1], rows) if x.dtype == "int8" else None

    @abstractmethod
    def pool_windows(self, image: Integers, op: Operator, graph: Graph) -> Integers:
        """Return one value for each window and channel [N, OH, OW, C]."""


class AveragePool2D(Pooling):
    """AVERAGE_POOL_2D: the mean of the taps inside the image, halves away from zero or to even."""

    tflite = TfliteForm(code="AVERAGE_POOL_2D", table="Pool2DOptions", fields=_TABLE, read=_options)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how halves are rounded, too."""
        return {**super().features(op, graph), **rounding_feature(op)}

    def pool_windows(self, image: Integers, op: Operator, graph: Graph) -> Integers:
        """Divide sums as C does, after adding half the divisor to the magnitude."""
        window = _window(op)
        sums = window.patches(image, 0).sum(axis=(4, 5))
        taps = window.patches(np.ones_like(image), 0).sum(axis=(4, 5))
        if rounds_to_even(op):
            down, rest = np.divmod(sums, taps)
            odd = (down + zero_point_of(require_input(op, graph, 0))) & 1
            even: Integers = down + (2 * rest + odd > taps)
            return even
        means: Integers = np.sign(sums) * ((np.abs(sums) + taps // 2) // taps)
        return means

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Add up, and divide by the count of taps inside the image."""

        def mean(builder: KernelBuilder, pixel: Pixel) -> Callable[[Expr], Expr]:
            rows, columns = (subtract(end, begin) for begin, end in (pixel.rows, pixel.columns))
            taps = builder.let("taps", maximum(multiply(rows, columns), 1))
            if not rounds_to_even(op):
                return lambda total: rounded_quotient(total, taps)
            return lambda total: _even_quotient(builder, total, taps, require_input(op, graph, 0))

        return _pool(op, graph, start=0, combine=add, finish=mean)


class MaxPool2D(Pooling):
    """MAX_POOL_2D: the greatest of the taps inside the image."""

    tflite = TfliteForm(code="MAX_POOL_2D", table="Pool2DOptions", fields=_TABLE, read=_options)

    def pool_windows(self, image: Integers, op: Operator, graph: Graph) -> Integers:
        """Let padding lose against every value."""
        greatest: Integers = _window(op).patches(image, LEAST).max(axis=(4, 5))
        return greatest

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Keep the greatest."""
        return _pool(
            op,
            graph,
            start=LEAST,
            combine=maximum,
            finish=lambda builder, pixel: lambda value: value,
        )


def _window(op: Operator) -> Window:
    return Window.of(op, op.integer("filter_h"), op.integer("filter_w"))


def _output_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    batch, height, width, channels = require_input(op, graph, 0).shape
    rows, columns = _window(op).positions(height, width)
    return (batch, rows, columns, channels) if min(rows, columns) > 0 else None


def rounded_quotient(total: Expr, count: Expr) -> Expr:
    """Divide by a positive count, halves away from zero; `total` is far from the limits."""
    half = binary(Operation.SHR, count, 1)
    nudged = select(binary(Operation.LT, 0, total), add(total, half), subtract(total, half))
    return binary(Operation.DIV, nudged, count)


def _even_quotient(builder: KernelBuilder, total: Expr, count: Expr, x: Tensor) -> Expr:
    """Divide a sum of values of `x`, halves to even as seen from its zero point."""
    least = LIMITS[x.dtype][0]
    above = builder.let("above", subtract(total, multiply(count, least)))
    down = builder.let("down", binary(Operation.DIV, above, count))
    rest = subtract(above, multiply(down, count))
    odd = binary(Operation.AND, add(down, zero_point_of(x)), 1)
    more = binary(Operation.LT, count, add(rest, rest, odd))
    return add(down, cast(more, Type.I32), least)


def _pool(
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


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=checks.QUANTIZED),
    checks.same_type(),
    checks.same_quantization,
    checks.rank(0, dimensions=4),
    checks.activation,
    window_rules.steps,
    window_rules.padded_size(lambda op, graph: _window(op)),
    checks.output_shape(_output_shape),
)

AVERAGE_POOL_2D = AveragePool2D()
MAX_POOL_2D = MaxPool2D()
