# SPDX-License-Identifier: Apache-2.0
"""The shapes of an operator in the terms of the reef accelerator (docs/reef.md)."""

from dataclasses import replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.reductions.reduction import around, reduced_elements
from atoll.records import dataclass
from atoll.resolve.soc import Engine
from atoll_sim.engines.reef.packing import (
    LINE_ROWS,
    dense_block_bytes,
    depthwise_block_bytes,
    lines_block_bytes,
)

POOLS = ("average_pool_2d", "max_pool_2d")
_SUMS = ("mean", "sum")

_MOST_COLUMNS = 8
"""Columns of the widest kernel that is computed by lines."""

_MOST_JOINED = 2**14 - 1
"""Bytes of the largest kernel whose rows are joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """An operator as reef sees it: one image, however many times.

    Attributes:
        samples: images in the batch, contiguous in memory; one descriptor each.
        input: height, width, channels.
        output: height, width, channels.
        kernel: height, width.
        stride: down, across.
        pad: top, left.
        depth_multiplier: 1 unless depthwise.
        depthwise: every output channel reads one input channel.
        uniform: all blocks of output channels have the same weights and parameters.
        lines: rows of the input are kept on chip.
        joined: the rows of the kernel are one row for the array, whatever their length.
        greatest: each window becomes the greatest of its values.
    """

    samples: int
    input: tuple[int, int, int]
    output: tuple[int, int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int]
    depth_multiplier: int
    depthwise: bool
    uniform: bool = False
    lines: bool = False
    joined: bool = False
    greatest: bool = False

    @property
    def kernel_row(self) -> int:
        """Bytes of one row of the kernel for one output channel."""
        return self.kernel[1] * (1 if self.depthwise else self.input[2])

    @property
    def seen(self) -> tuple[int, int]:
        """Rows and columns of the image up to the last that a window reaches."""
        rows, columns = (
            min(extent, (places - 1) * stride - pad + taps)
            for extent, places, stride, pad, taps in zip(
                self.input[:2], self.output[:2], self.stride, self.pad, self.kernel, strict=True
            )
        )
        return rows, columns

    def block_bytes(self, npu: Engine) -> int:
        """Return the bytes of the packed weights of one block of output channels."""
        input_lanes, lanes = npu.params["input_lanes"], npu.params["output_lanes"]
        if self.lines:
            return lines_block_bytes(self.kernel[1], input_lanes, lanes)
        if self.depthwise:
            return depthwise_block_bytes(*self.kernel, lanes)
        if self.joined:
            return dense_block_bytes(1, self.kernel[0] * self.kernel_row, input_lanes, lanes)
        return dense_block_bytes(self.kernel[0], self.kernel_row, input_lanes, lanes)


def geometry_of(op: Operator, graph: Graph, npu: Engine) -> Geometry:
    """Return the shapes of an operator on an instance; pools are depthwise convolutions."""
    shape = _shape_of(op, graph)
    return replace(shape, lines=_by_lines(shape, npu), joined=_joins_rows(shape, npu))


def _by_lines(shape: Geometry, npu: Engine) -> bool:
    """Tell whether an instance can keep the rows of the input that a window needs.

    It reads each pixel once then, also those that strides leave out.
    """
    (height, width), (down, across) = shape.kernel, shape.stride
    return (
        shape.depthwise
        and shape.depth_multiplier == 1
        and not shape.greatest
        and shape.input[1] <= npu.params["line_columns"]
        and height <= LINE_ROWS
        and width <= _MOST_COLUMNS
        and 1 < height * width >= down * across
    )


def _joins_rows(shape: Geometry, npu: Engine) -> bool:
    """Tell whether joined rows of the kernel take fewer steps; all weights must be on chip."""
    lanes, (height, _), row = npu.params["input_lanes"], shape.kernel, shape.kernel_row
    steps = -(-height * row // lanes)
    return (
        not shape.depthwise
        and steps <= npu.params["weight_rows"]
        and height * row <= _MOST_JOINED
        and steps < height * -(-row // lanes)
    )


def _shape_of(op: Operator, graph: Graph) -> Geometry:
    if op.kind == "fully_connected":
        return _dense(op, graph)
    if op.kind in _SUMS:
        return _sum(op, graph)
    image, (output,) = operand(op, graph, 0), graph.results(op)
    pool, depthwise = op.kind in POOLS, op.kind == "depthwise_conv_2d"
    if pool:
        kernel = op.integer("filter_h"), op.integer("filter_w")
    else:
        _, *extents, _ = operand(op, graph, 1).shape
        kernel = extents[0], extents[1]
    return Geometry(
        samples=image.shape[0],
        input=(image.shape[1], image.shape[2], image.shape[3]),
        output=(output.shape[1], output.shape[2], output.shape[3]),
        kernel=kernel,
        stride=(op.integer("stride_h"), op.integer("stride_w")),
        pad=(op.integer("pad_top"), op.integer("pad_left")),
        depth_multiplier=op.integer("depth_multiplier") if depthwise else 1,
        depthwise=pool or depthwise,
        uniform=pool,
        greatest=op.kind == "max_pool_2d",
    )


def _dense(op: Operator, graph: Graph) -> Geometry:
    channels, depth = operand(op, graph, 1).shape
    rows = operand(op, graph, 0).elements // depth
    return Geometry(
        samples=1,
        input=(1, rows, depth),
        output=(1, rows, channels),
        kernel=(1, 1),
        stride=(1, 1),
        pad=(0, 0),
        depth_multiplier=1,
        depthwise=False,
    )


def _sum(op: Operator, graph: Graph) -> Geometry:
    """Return a row of the image for each of the result, whose pixels are one window."""
    rows, channels = around(op, graph)
    reduced = reduced_elements(op, graph)
    return Geometry(
        samples=1,
        input=(rows, reduced, channels),
        output=(rows, 1, channels),
        kernel=(1, reduced),
        stride=(1, 1),
        pad=(0, 0),
        depth_multiplier=1,
        depthwise=True,
        uniform=True,
    )


def operand(op: Operator, graph: Graph, position: int) -> Tensor:
    """Return an operand that must be there."""
    tensor = graph.operands(op)[position]
    assert tensor is not None, f"{op.name} lacks operand {position}"
    return tensor
