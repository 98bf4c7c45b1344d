# SPDX-License-Identifier: Apache-2.0
"""Blocks of pixels become channels or batches, and back: four kinds that take images apart."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import checks
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.checks import require_input
from atoll.ops.kind import Array
from atoll.ops.moves.strided import Axis, Strided, even, in_order
from atoll.ops.quantization import Integers, zero_point_of
from atoll.ops.tflite_form import WORD, Attributes, Shapes, TfliteForm

Shape = tuple[int, ...]


def _block_size(options: Any, shapes: Shapes) -> Attributes:
    return {"block_size": options.BlockSize()}


def _spread(*places: Integers) -> Integers:
    """Return the sums of places of several dimensions, which become one, the first outermost."""
    total = np.zeros(1, np.int64)
    for each in places:
        total = np.add.outer(total, each).reshape(-1)
    return total


class SpaceToDepth(Strided):
    """SPACE_TO_DEPTH: the pixels of a block lie side by side (TFLM: `SpaceToDepth`)."""

    tflite = TfliteForm(
        code="SPACE_TO_DEPTH", table="SpaceToDepthOptions", fields={0: WORD}, read=_block_size
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 [N, H, W, C] that consists of whole blocks."""
        checks.apply(_rules(_shape_in_depth), op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take the blocks apart."""
        assert inputs[0] is not None
        block, (batches, height, width, depth) = op.integer("block_size"), inputs[0].shape
        blocks = inputs[0].reshape(batches, height // block, block, width // block, block, depth)
        shape = graph.results(op)[0].shape
        return (np.ascontiguousarray(blocks.transpose(0, 1, 3, 2, 4, 5)).reshape(shape),)

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Read the rows of the blocks."""
        block = op.integer("block_size")
        reads = (rows[0] * block, rows[1] * block)
        return RowWork(reads=(reads,), attributes=op.attributes)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result; its channels are rows, columns and channels of a block."""
        block = op.integer("block_size")
        batches, rows, columns, channels = even(require_input(op, graph, 0).shape)
        depth = _spread(rows[:block], columns[:block], channels)
        return in_order([batches, rows[::block], columns[::block], depth])


class DepthToSpace(Strided):
    """DEPTH_TO_SPACE: channels become the pixels of a block (TFLM: `DepthToSpace`)."""

    tflite = TfliteForm(
        code="DEPTH_TO_SPACE", table="DepthToSpaceOptions", fields={0: WORD}, read=_block_size
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 [N, H, W, C] whose channels make whole blocks."""
        checks.apply(_rules(_shape_in_space), op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Put the blocks together."""
        assert inputs[0] is not None
        block, (batches, height, width, _) = op.integer("block_size"), inputs[0].shape
        blocks = inputs[0].reshape(batches, height, width, block, block, -1)
        shape = graph.results(op)[0].shape
        return (np.ascontiguousarray(blocks.transpose(0, 1, 3, 2, 4, 5)).reshape(shape),)

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Read the rows of which whole blocks are made."""
        block = op.integer("block_size")
        if any(bound % block for bound in rows):
            return None
        reads = (rows[0] // block, rows[1] // block)
        return RowWork(reads=(reads,), attributes=op.attributes)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result; rows and columns of a block are channels of the input."""
        block, depth = op.integer("block_size"), graph.results(op)[0].shape[3]
        batches, rows, columns, channels = even(require_input(op, graph, 0).shape)
        across, down = (channels[:: depth * count][:block] for count in (1, block))
        pixels = (_spread(rows, down), _spread(columns, across))
        return in_order([batches, *pixels, channels[:depth]])


class _InBatches(Strided):
    """What the kinds share that make batches of the pixels of a block, or pixels of batches.

    Their inputs are an image [N, H, W, C] or [N, H, C], the extents of a block, and what is added
    or cut off (before, after) each of height and width.
    """

    def _blocks(self, op: Operator, graph: Graph) -> tuple[Shape, tuple[Shape, ...]]:
        """Return the extents of a block, and the pairs, of height and width; width may lack."""
        block, pairs = (require_input(op, graph, at).array for at in (1, 2))
        shape = tuple(int(extent) for extent in block.reshape(-1))
        margins = tuple((int(first), int(last)) for first, last in pairs.reshape(-1, 2))
        return (*shape, 1)[:2], (*margins, (0, 0))[:2]

    def _values(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        x, block, pairs = (require_input(op, graph, at) for at in range(3))
        if len(x.shape) not in (3, 4):
            message = f"has {len(x.shape)} dimensions where 3 and 4 are supported"
            yield checks.fault(op, message, tensor=x)
            return
        extents = len(x.shape) - 2
        for tensor, wanted, least in ((block, (extents,), 1), (pairs, (extents, 2), 0)):
            if tensor.shape != wanted:
                message = f"has shape {list(tensor.shape)} instead of {list(wanted)}"
                yield checks.fault(op, message, tensor=tensor)
            elif int(tensor.array.astype(np.int64).min()) < least:
                yield checks.fault(op, f"holds a number below {least}", tensor=tensor)

    @abstractmethod
    def shape(self, op: Operator, graph: Graph) -> Shape | None:
        """Return the result's shape, None if blocks are left over."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 images of 3 or 4 dimensions, and constants that fit."""
        rules = (
            checks.operands(3, 3),
            checks.int8_activations(0),
            checks.constant(1, "int32"),
            checks.constant(2, "int32"),
            checks.same_quantization,
            self._values,
            checks.output_shape(self.shape),
        )
        checks.apply(rules, op, graph)


class SpaceToBatch(_InBatches):
    """SPACE_TO_BATCH_ND, filled with the zero point.

    TFLM (`SpaceToBatchND`) fills with memory that it has not written; TFLite does as Atoll.
    """

    tflite = TfliteForm(code="SPACE_TO_BATCH_ND", constants={1: "block", 2: "paddings"})

    def shape(self, op: Operator, graph: Graph) -> Shape | None:
        """Add to the sides, and divide them."""
        x, (block, pads) = require_input(op, graph, 0), self._blocks(op, graph)
        batches, height, width, depth = _image(x)
        sides = [n + sum(pad) for n, pad in zip((height, width), pads, strict=True)]
        if any(side % extent for side, extent in zip(sides, block, strict=True)):
            return None
        places = [side // extent for side, extent in zip(sides, block, strict=True)]
        return _like(x, (batches * block[0] * block[1], *places, depth))

    def filling(self, op: Operator, graph: Graph) -> int | None:
        """Fill with the zero point where pixels are added."""
        _, pads = self._blocks(op, graph)
        return zero_point_of(graph.results(op)[0]) if any(map(any, pads)) else None

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Add pixels, and take the blocks apart."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        assert inputs[0] is not None
        (down, across), pads = self._blocks(op, graph)
        image = inputs[0].reshape(_image(x))
        padded = np.pad(image, ((0, 0), *pads, (0, 0)), constant_values=zero_point_of(output))
        batches, height, width, depth = padded.shape
        blocks = padded.reshape(batches, height // down, down, width // across, across, depth)
        return (np.ascontiguousarray(blocks.transpose(2, 4, 0, 1, 3, 5)).reshape(output.shape),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the input: which pixel of a block it is says which batch becomes of it."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        (down, across), pads = self._blocks(op, graph)
        made = even(_image(output))
        batches = made[0].reshape(down, across, -1)
        axes = [Axis(reads, reads) for reads in even(_image(x))]
        writes = [batches[0, 0], axes[1].reads, axes[2].reads, made[3]]
        for at, starts in ((1, batches[:, 0, 0]), (2, batches[0, :, 0])):
            places = np.arange(axes[at].reads.size) + pads[at - 1][0]
            row, pixel = np.divmod(places, starts.size)
            writes[at] = made[at][row] + starts[pixel]
        return [Axis(axis.reads, each) for axis, each in zip(axes, writes, strict=True)]


class BatchToSpace(_InBatches):
    """BATCH_TO_SPACE_ND, of which pixels are cut off (TFLM: `BatchToSpaceND`)."""

    tflite = TfliteForm(code="BATCH_TO_SPACE_ND", constants={1: "block", 2: "crops"})

    def shape(self, op: Operator, graph: Graph) -> Shape | None:
        """Multiply the sides, and cut them."""
        x, (block, crops) = require_input(op, graph, 0), self._blocks(op, graph)
        batches, height, width, depth = _image(x)
        pairs = zip((height, width), block, crops, strict=True)
        places = [side * extent - sum(crop) for side, extent, crop in pairs]
        if batches % (block[0] * block[1]) or min(places) < 1:
            return None
        return _like(x, (batches // (block[0] * block[1]), *places, depth))

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Put the blocks together, and cut."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        assert inputs[0] is not None
        (down, across), crops = self._blocks(op, graph)
        _, height, width, depth = _image(x)
        blocks = inputs[0].reshape(down, across, -1, height, width, depth)
        image = np.ascontiguousarray(blocks.transpose(2, 3, 0, 4, 1, 5))
        whole = image.reshape(-1, height * down, width * across, depth)
        (_, rows, columns, _), ((top, _), (left, _)) = _image(output), crops
        cut = whole[:, top : top + rows, left : left + columns]
        return (np.ascontiguousarray(cut).reshape(output.shape),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result; which pixel of a block it is says which batch it was."""
        x, shape = require_input(op, graph, 0), _image(graph.results(op)[0])
        (down, across), ((top, _), (left, _)) = self._blocks(op, graph)
        batches, rows, columns, channels = even(_image(x))
        batches = batches.reshape(down, across, -1)
        down_places = _spread(rows, batches[:, 0, 0])[top : top + shape[1]]
        across_places = _spread(columns, batches[0, :, 0])[left : left + shape[2]]
        return in_order([batches[0, 0], down_places, across_places, channels])


def _image(tensor: Tensor) -> Shape:
    """Return [N, H, W, C]; [N, H, C] is one column wide."""
    batches, height, *width, depth = tensor.shape
    return (batches, height, *(width or [1]), depth)


def _like(x: Tensor, shape: Shape) -> Shape:
    """Return [N, H, W, C] with as many dimensions as `x`."""
    return shape if len(x.shape) == 4 else (*shape[:2], shape[3])


def _block(op: Operator, graph: Graph) -> Iterator[Fault]:
    size = op.integer("block_size")
    if size < 1:
        yield checks.fault(op, f"has block_size {size}, the least is 1")


def _shape_in_depth(op: Operator, graph: Graph) -> Shape | None:
    block, (batches, height, width, depth) = (
        op.integer("block_size"),
        require_input(op, graph, 0).shape,
    )
    if height % block or width % block:
        return None
    return (batches, height // block, width // block, depth * block * block)


def _shape_in_space(op: Operator, graph: Graph) -> Shape | None:
    block, (batches, height, width, depth) = (
        op.integer("block_size"),
        require_input(op, graph, 0).shape,
    )
    if depth % (block * block):
        return None
    return (batches, height * block, width * block, depth // (block * block))


def _rules(shape: Any) -> tuple[checks.Rule, ...]:
    return (
        checks.operands(1, 1),
        checks.int8_activations(),
        checks.same_quantization,
        checks.rank(0, dimensions=4),
        _block,
        checks.output_shape(shape),
    )


BATCH_TO_SPACE_ND = BatchToSpace()
DEPTH_TO_SPACE = DepthToSpace()
SPACE_TO_BATCH_ND = SpaceToBatch()
SPACE_TO_DEPTH = SpaceToDepth()
