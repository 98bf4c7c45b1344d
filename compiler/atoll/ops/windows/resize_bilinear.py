# SPDX-License-Identifier: Apache-2.0
"""RESIZE_BILINEAR: each pixel is a mean of four, with weights in 1/1024 (TFLM: the integer one)."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, cast, maximum, minimum, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind
from atoll.ops.overlap import MOST_PIXELS, pixel_distance, read_from, useful
from atoll.ops.quantization import Integers, zero_point_of
from atoll.ops.resizing import resizing_features, resizing_options
from atoll.ops.rounding import rounding_feature, rounds_to_even
from atoll.ops.tflite_form import TfliteForm
from atoll.records import dataclass

ONE_BITS = 10
ONE = 1 << ONE_BITS
"""A pixel's extent, in the units of coordinates."""

GREATEST_SIDE = 2**18
"""Rows or columns with which coordinates and their steps stay far below 2^31."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One axis: the output at i is at i * step + start of the input, in 1/1024."""

    input: int
    output: int
    step: int
    start: int

    def pixels(self) -> tuple[Integers, Integers, Integers]:
        """Return for each output the pixels below and above, and how far it is past the first."""
        places = np.arange(self.output, dtype=np.int64) * self.step + self.start
        below = np.maximum(places >> ONE_BITS, 0)
        above = np.minimum((places + ONE - 1) >> ONE_BITS, self.input - 1)
        return below, above, places - below * ONE

    def at(self, builder: FunctionBuilder, name: str, i: Expr) -> tuple[Expr, Expr, Expr]:
        """Name the same of one output."""
        place = builder.let(f"{name}_place", add(multiply(i, self.step), self.start))
        below = builder.let(f"{name}_below", maximum(binary(Operation.SHR, place, ONE_BITS), 0))
        above = binary(Operation.SHR, add(place, ONE - 1), ONE_BITS)
        return (
            below,
            builder.let(f"{name}_above", minimum(above, self.input - 1)),
            builder.let(f"{name}_share", subtract(place, multiply(below, ONE))),
        )


def side_of(size: int, places: int, *, align_corners: bool, half_pixel_centers: bool) -> Side:
    """Return an axis of `size` elements that becomes one of `places`."""
    if align_corners and places > 1:
        step = (ONE * (size - 1) + (places - 1) // 2) // (places - 1)
    else:
        step = (ONE * size + places // 2) // places
    start = step // 2 - ONE // 2 if half_pixel_centers else 0
    return Side(input=size, output=places, step=step, start=start)


class ResizeBilinear(OperatorKind):
    """RESIZE_BILINEAR to the height and width of the output tensor."""

    tflite = TfliteForm(
        code="RESIZE_BILINEAR",
        table="ResizeBilinearOptions",
        may_lack_table=True,
        fields={2: 1, 3: 1},
        read=resizing_options,
        shapes_from=1,
    )
    parallel = ("oy", "ox", "c")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 [N, H, W, C] with input and output quantised alike.

        Where halves are rounded to even, as front ends other than TFLite's ask for, also int16.
        """
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the extents and the options; there are no multiply-accumulates."""
        return {**resizing_features(op, graph), **rounding_feature(op)}

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Weigh the four pixels around each place."""
        image: Integers = np.asarray(inputs[0], np.int64)
        down, across = (side.pixels() for side in _sides(op, graph))
        share = across[2][:, np.newaxis]
        rows = [
            image[:, row][:, :, across[0]] * (ONE - share) + image[:, row][:, :, across[1]] * share
            for row in down[:2]
        ]
        weight = down[2][:, np.newaxis, np.newaxis]
        total = (rows[0] * (ONE - weight) + rows[1] * weight).astype(np.int64)
        less: Integers = (total < 0).astype(np.int64)
        if rounds_to_even(op):
            less = 1 - (((total >> 2 * ONE_BITS) + zero_point_of(require_input(op, graph, 0))) & 1)
        made = (total + ONE * ONE // 2 - less) >> 2 * ONE_BITS
        return (made.astype(graph.results(op)[0].dtype),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep what the current pixel and later ones read until it is done."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        if x.dtype != "int8" or output.elements // output.shape[3] > MOST_PIXELS:
            return (None,)
        rows, columns = (side.pixels()[0] for side in _sides(op, graph))
        lowest = read_from(x.shape, rows, columns)
        return (useful(pixel_distance(lowest, output.shape[3]), output.size),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over pixels, whose weights are made once, and channels."""
        (batches, height, width, depth), (output,) = (
            graph.tensor(op.inputs[0]).shape,
            graph.results(op),
        )
        down, across = _sides(op, graph)
        builder, zero = KernelBuilder(op, graph), zero_point_of(graph.tensor(op.inputs[0]))
        sums = Type.I32 if output.dtype == "int8" else Type.I64

        def more(total: Expr) -> Expr:
            """Return -1 where halves are rounded down, else 0."""
            if not rounds_to_even(op):
                return binary(Operation.SHR, total, 31)
            even = add(binary(Operation.SHR, total, 2 * ONE_BITS), zero)
            return subtract(binary(Operation.AND, even, 1), 1)

        x, y = builder.input(0, "x"), builder.output()
        with builder.loop("n", 0, batches) as n, builder.loop("oy", 0, down.output) as oy:
            *rows, low = down.at(builder, "y", oy)
            image = multiply(n, height)
            lines = [builder.let("line", multiply(add(image, row), width)) for row in rows]
            line = builder.let("target", multiply(add(multiply(n, down.output), oy), across.output))
            with builder.loop("ox", 0, across.output) as ox:
                *columns, share = across.at(builder, "x", ox)
                weights = [
                    builder.let("weight", multiply(vertical, horizontal))
                    for vertical in (subtract(ONE, low), low)
                    for horizontal in (subtract(ONE, share), share)
                ]
                corners = [
                    builder.let("corner", multiply(add(line_of, column), depth))
                    for line_of in lines
                    for column in columns
                ]
                target = builder.let("pixel", multiply(add(line, ox), output.shape[3]))
                with builder.loop("c", 0, depth) as c:
                    terms = [
                        multiply(cast(x.wide(add(corner, c)), sums), cast(weight, sums))
                        for corner, weight in zip(corners, weights, strict=True)
                    ]
                    total = builder.let("total", add(*terms))
                    rounded = add(total, ONE * ONE // 2, more(total))
                    y[add(target, c)] = cast(binary(Operation.SHR, rounded, 2 * ONE_BITS), Type.I32)
        return builder.lowered()


def _sides(op: Operator, graph: Graph) -> tuple[Side, Side]:
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    align, half = (bool(op.attributes[name]) for name in ("align_corners", "half_pixel_centers"))
    down, across = (
        side_of(x.shape[at], output.shape[at], align_corners=align, half_pixel_centers=half)
        for at in (1, 2)
    )
    return down, across


def _types(op: Operator, graph: Graph) -> Iterator[Fault]:
    types = ("int8", "int16") if rounds_to_even(op) else ("int8",)
    return checks.activations(types=types)(op, graph)


def _extents(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require places inside the image: steps are rounded, and TFLM reads behind it otherwise."""
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    if op.attributes["align_corners"] and op.attributes["half_pixel_centers"]:
        yield checks.fault(op, "has both align_corners and half_pixel_centers", tensor=output)
        return
    for tensor in (x, output):
        if max(tensor.shape[1:3]) > GREATEST_SIDE:
            message = f"has shape {list(tensor.shape)}; rows and columns may be {GREATEST_SIDE}"
            yield checks.fault(op, message, tensor=tensor)
            return
    for side in _sides(op, graph):
        last = ((side.output - 1) * side.step + side.start) >> ONE_BITS
        if last >= side.input:
            message = f"makes {side.output} of {side.input}, for which 1/{ONE} is too coarse"
            yield checks.fault(op, message, tensor=output, remedy="resize in several steps")


def _output_shape(op: Operator, graph: Graph) -> tuple[int, ...]:
    batches, _, _, channels = require_input(op, graph, 0).shape
    return (batches, *graph.results(op)[0].shape[1:3], channels)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    _types,
    checks.same_quantization,
    checks.rank(0, dimensions=4),
    checks.output_shape(_output_shape),
    _extents,
)

RESIZE_BILINEAR = ResizeBilinear()
