# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE_CONV: each pixel of the input is spread over a window of the output."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, maximum, minimum, multiply, subtract
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ir.tir import Expr, Lowered, Operation
from atoll.ops import checks
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.kind import Distances
from atoll.ops.loops.channel_loops import block_width
from atoll.ops.loops.wide_sums import simple_sums
from atoll.ops.overlap import MOST_PIXELS, NONE, Bytes, pixel_distance, read_from, useful
from atoll.ops.rounding import rounding_feature
from atoll.ops.tflite_form import (
    SAME,
    VALID,
    Attributes,
    OptionError,
    Shapes,
    TfliteForm,
    activation,
)
from atoll.ops.windows import window_rules
from atoll.ops.windows.convolution import Convolution, Sums, tensors
from atoll.records import dataclass


def _options(options: Any, shapes: Shapes) -> Attributes:
    if options.Padding() not in (SAME, VALID):
        raise OptionError(f"has padding {options.Padding()}, which is neither SAME nor VALID")
    return {
        "stride_h": options.StrideH(),
        "stride_w": options.StrideW(),
        "same": options.Padding() == SAME,
        "activation": activation(options),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One axis; counts are elements of it.

    An output at `position` has tap position + pad - i * stride of each input i where there is one.
    """

    input: int
    output: int
    kernel: int
    stride: int
    same: bool

    @property
    def pad(self) -> int:
        """Return what is cut off in front (TFLM: `ComputePaddingHeightWidth` of the output)."""
        if self.same:
            places = -(-self.output // self.stride)
        else:
            places = int((self.output - self.kernel + self.stride) / self.stride)
        return max((places - 1) * self.stride + self.kernel - self.output, 0) // 2

    def first_read(self) -> Bytes:
        """Return the first input that each output reads, `NONE` for none."""
        places = np.arange(self.output, dtype=np.int64) + self.pad
        begin = np.maximum((places + self.stride - self.kernel) // self.stride, 0)
        end = np.minimum(places // self.stride + 1, self.input)
        first: Bytes = np.where(begin < end, begin, NONE)
        return first

    def reads(self, builder: FunctionBuilder, name: str, position: Expr) -> tuple[Expr, ...]:
        """Name the half-open range of inputs that an output reads, and the tap at input 0.

        Taps count from the kernel's end, so that both ascend: LLVM 22.1 vectorises loops wrongly
        that step backwards over several elements.
        """
        place = builder.let(f"{name}_place", add(position, self.pad))
        first = binary(Operation.DIV, add(place, self.stride - self.kernel), self.stride)
        last = add(binary(Operation.DIV, place, self.stride), 1)
        return (
            builder.let(f"{name}_begin", maximum(first, 0)),
            builder.let(f"{name}_end", minimum(last, self.input)),
            builder.let(f"{name}_tap", subtract(self.kernel - 1, place)),
        )


class TransposeConv(Convolution):
    """TRANSPOSE_CONV with weights [O, kernel_h, kernel_w, I]; TFLM takes the output's extents."""

    tflite = TfliteForm(
        code="TRANSPOSE_CONV",
        table="TransposeConvOptions",
        fields={0: 1, 1: 4, 2: 4, 3: 1},
        read=_options,
        constants={1: "filter", 3: "bias"},
        order=(2, 1, 3),
        any_shape=True,
    )
    parallel = ("oy", "ox", "block")
    wide_biases = ("int64",)

    def covers(self, op: Operator, x: Tensor, weights: Tensor) -> bool:
        """Require as many input channels as the input has."""
        return x.shape[3] == weights.shape[3]

    def extents(self) -> tuple[checks.Rule, ...]:
        """Accept every height and width of the result."""
        return (checks.rank(0, dimensions=4), window_rules.steps, _size)

    def output_shape(self, op: Operator, graph: Graph) -> tuple[int, ...]:
        """Return the result's own height and width."""
        x, weights, output = tensors(op, graph)
        return (x.shape[0], *output.shape[1:3], weights.shape[0])

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return those of a convolution; the pads are what is cut off the result."""
        x, weights, output = tensors(op, graph)
        (top, left), (down, across) = _pads(op, graph), _sides(op, graph)
        types = {x.dtype, weights.dtype, output.dtype}
        outputs, height, width, depth = weights.shape
        return {
            **{"kernel_h": height, "kernel_w": width},
            **{"stride_h": down.stride, "stride_w": across.stride},
            **{"dilation_h": 1, "dilation_w": 1, "pad_top": top[0], "pad_left": left[0]},
            **{"pad_bottom": top[1], "pad_right": left[1], "batches": x.shape[0]},
            **{"in_height": down.input, "in_width": across.input, "in_channels": depth},
            **{"out_height": down.output, "out_width": across.output, "out_channels": outputs},
            **{"depth_multiplier": 1, "groups": 1, "macs": x.elements * outputs * height * width},
            "int8": int(types == {"int8"}),
            **rounding_feature(op),
        }

    def sums(self, op: Operator, graph: Graph, image: Sums, weights: Sums) -> Sums:
        """Add the window of each pixel of the input, and cut the result out."""
        down, across = _sides(op, graph)
        batch, height, width, _ = image.shape
        rows = max((height - 1) * down.stride + down.kernel, down.pad + down.output)
        columns = max((width - 1) * across.stride + across.kernel, across.pad + across.output)
        whole = np.zeros((batch, rows, columns, len(weights)))
        for ky, kx in np.ndindex(down.kernel, across.kernel):
            lines = slice(ky, ky + (height - 1) * down.stride + 1, down.stride)
            places = slice(kx, kx + (width - 1) * across.stride + 1, across.stride)
            whole[:, lines, places] += image @ weights[:, ky, kx].T
        top, left = down.pad, across.pad
        return whole[:, top : top + down.output, left : left + across.output]

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep what the current pixel and later ones read until it is done."""
        x, _, output = tensors(op, graph)
        others = (None,) * (len(op.inputs) - 1)
        if output.elements // output.shape[3] > MOST_PIXELS:
            return (None, *others)
        down, across = _sides(op, graph)
        item = ITEM_BYTES[x.dtype]
        image = (*x.shape[:3], x.shape[3] * item)
        lowest = read_from(image, down.first_read(), across.first_read())
        return (useful(pixel_distance(lowest, output.shape[3] * item), output.size), *others)

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Make all rows at once."""
        return None

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over pixels, blocks of output channels, and taps that meet the input."""
        x, weights, _ = tensors(op, graph)
        (down, across), (outputs, height, width, depth) = _sides(op, graph), weights.shape
        flipped = weights.array[:, ::-1, ::-1]
        kernel = simple_sums(op, graph, weights=flipped)
        builder, lanes, taps = kernel.builder, block_width(outputs), height * width * depth
        with (
            builder.loop("n", 0, x.shape[0]) as n,
            builder.loop("oy", 0, down.output) as oy,
        ):
            *rows, row_tap = down.reads(builder, "iy", oy)
            line = builder.let("line", multiply(add(multiply(n, down.output), oy), across.output))
            with builder.loop("ox", 0, across.output) as ox:
                *columns, column_tap = across.reads(builder, "ix", ox)
                pixel = builder.let("pixel", multiply(add(line, ox), outputs))
                with builder.loop("block", 0, outputs // lanes) as block:
                    channel = builder.let("channel", multiply(block, lanes))
                    with (
                        kernel.block(channel, lanes, [add(pixel, channel)]) as sums,
                        builder.loop("iy", *rows) as iy,
                        builder.loop("ix", *columns) as ix,
                    ):
                        row = multiply(add(multiply(n, down.input), iy), across.input)
                        source = builder.let("source", multiply(add(row, ix), depth))
                        ky = add(row_tap, multiply(iy, down.stride))
                        kx = add(column_tap, multiply(ix, across.stride))
                        tap = multiply(add(multiply(ky, width), kx), depth)
                        start = builder.let("tap", add(multiply(channel, taps), tap))
                        filters = [add(start, lane * taps) for lane in range(lanes)]
                        kernel.dot(sums, kernel.x, [source], filters, depth)
        return kernel.lowered()


def _sides(op: Operator, graph: Graph) -> tuple[Side, Side]:
    x, weights, output = tensors(op, graph)
    down, across = (
        Side(
            input=x.shape[at],
            output=output.shape[at],
            kernel=weights.shape[at],
            stride=op.integer(f"stride_{letter}"),
            same=bool(op.attributes["same"]),
        )
        for at, letter in ((1, "h"), (2, "w"))
    )
    return down, across


def _pads(op: Operator, graph: Graph) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many rows and columns are cut off in front and at the end, none below 0."""
    top, left = (
        (side.pad, max(0, (side.input - 1) * side.stride + side.kernel - side.pad - side.output))
        for side in _sides(op, graph)
    )
    return top, left


def _size(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Bound what the windows of all pixels cover, which a stride of millions would blow up."""
    x, weights, output = tensors(op, graph)
    rows, columns = (
        (side.input - 1) * side.stride + side.kernel + side.output for side in _sides(op, graph)
    )
    elements = x.shape[0] * rows * columns * weights.shape[0]
    if elements > window_rules.GREATEST_PADDED:
        most = window_rules.GREATEST_PADDED
        message = f"covers {elements} elements before it is cut, the most is {most}"
        remedy = "use a smaller window or stride"
        yield checks.fault(op, message, tensor=output, remedy=remedy)


TRANSPOSE_CONV = TransposeConv()
