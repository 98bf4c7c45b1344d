# SPDX-License-Identifier: Apache-2.0
"""Kinds whose indices read each one of the input: nearest pixels, repetitions, reversals."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.checks import require_input
from atoll.ops.kind import Array
from atoll.ops.moves.strided import Axis, Strided, even, in_order
from atoll.ops.quantization import Integers
from atoll.ops.resizing import resizing_features, resizing_options
from atoll.ops.tflite_form import BYTE, TfliteForm

Shape = tuple[int, ...]
GREATEST_SIDE = 2**24
"""Rows or columns that float32 tells apart."""

MOST_BROADCAST, MOST_REVERSED = 5, 6
"""Dimensions that TFLM's kernels have room for."""


class ResizeNearest(Strided):
    """RESIZE_NEAREST_NEIGHBOR to the height and width of the output tensor.

    TFLM: `GetNearestNeighbor`, in float32.
    """

    tflite = TfliteForm(
        code="RESIZE_NEAREST_NEIGHBOR",
        table="ResizeNearestNeighborOptions",
        may_lack_table=True,
        fields={0: BYTE, 1: BYTE},
        read=resizing_options,
        shapes_from=1,
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept [N, H, W, C] with input and output quantised alike."""
        checks.apply(_RESIZE_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the extents and the options; there are no multiply-accumulates."""
        return resizing_features(op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take the nearest row and column of each."""
        assert inputs[0] is not None
        rows, columns = _nearest(op, graph)
        return (np.ascontiguousarray(inputs[0][:, rows][:, :, columns]),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result."""
        batches, rows, columns, channels = even(require_input(op, graph, 0).shape)
        down, across = _nearest(op, graph)
        return in_order([batches, rows[down], columns[across], channels])

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Repeat the same rows alone, where each is repeated equally often."""
        height, made = require_input(op, graph, 0).shape[1], graph.results(op)[0].shape[1]
        times, rest = divmod(made, height)
        if rest or op.attributes["align_corners"] or any(bound % times for bound in rows):
            return None
        reads = (rows[0] // times, rows[1] // times)
        return RowWork(reads=(reads,), attributes=op.attributes)


class BroadcastTo(Strided):
    """BROADCAST_TO the shape of the output tensor (TFLM: `BroadcastTo`)."""

    tflite = TfliteForm(code="BROADCAST_TO", shapes_from=1)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept what repeats extents of 1."""
        checks.apply(_BROADCAST_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Repeat the input."""
        assert inputs[0] is not None
        return (np.ascontiguousarray(np.broadcast_to(inputs[0], graph.results(op)[0].shape)),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result, and stay where the input has an extent of 1."""
        given, made = require_input(op, graph, 0).shape, graph.results(op)[0].shape
        wider = even((1,) * (len(made) - len(given)) + given)
        pairs = zip(wider, made, strict=True)
        return in_order([np.broadcast_to(each, (extent,)) for each, extent in pairs])


class Tile(Strided):
    """TILE: all of the input several times along each axis, as the shape of the output says.

    TFLM has no kernel of it.
    """

    tflite = TfliteForm(code="TILE", shapes_from=1)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an output each of whose extents is a multiple of the input's."""
        checks.apply(_TILE_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Repeat the input."""
        assert inputs[0] is not None
        return (np.ascontiguousarray(np.tile(inputs[0], _times(op, graph))),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result, and through the input again and again."""
        pairs = zip(even(require_input(op, graph, 0).shape), _times(op, graph), strict=True)
        return in_order([np.tile(each, count) for each, count in pairs])


class Reverse(Strided):
    """REVERSE_V2 along neighbouring axes, which may count from the end (TFLM: `Reverse`)."""

    tflite = TfliteForm(code="REVERSE_V2", constants={1: "axes"})

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept axes one next to the other, in any order."""
        checks.apply(_REVERSE_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Turn the dimensions round."""
        assert inputs[0] is not None
        return (np.ascontiguousarray(np.flip(inputs[0], _reversed_axes(op, graph))),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result, and back through the input."""
        turned = _reversed_axes(op, graph)
        dimensions = enumerate(even(require_input(op, graph, 0).shape))
        return in_order([each[::-1] if at in turned else each for at, each in dimensions])


def _nearest(op: Operator, graph: Graph) -> tuple[Integers, Integers]:
    """Return the row of the input that each row of the result is, and likewise the columns."""
    given, made = require_input(op, graph, 0).shape, graph.results(op)[0].shape
    aligned = bool(op.attributes["align_corners"])
    offset = np.float32(0.5 if op.attributes["half_pixel_centers"] else 0.0)
    found = []
    for size, count in zip(given[1:3], made[1:3], strict=True):
        spaces = (size - 1, count - 1) if aligned and count > 1 else (size, count)
        scale = np.float32(spaces[0]) / np.float32(spaces[1])
        places = (np.arange(count).astype(np.float32) + offset) * scale
        below = np.floor(places)
        up = (places - below >= np.float32(0.5)) & aligned
        found.append(np.minimum(below.astype(np.int64) + up, size - 1))
    return found[0], found[1]


def _sides(op: Operator, graph: Graph) -> Iterator[Fault]:
    for tensor in (require_input(op, graph, 0), *graph.results(op)):
        if max(tensor.shape[1:3]) > GREATEST_SIDE:
            message = f"has shape {list(tensor.shape)}; rows and columns may be {GREATEST_SIDE}"
            yield checks.fault(op, message, tensor=tensor)


def _resized_shape(op: Operator, graph: Graph) -> Shape:
    batches, _, _, channels = require_input(op, graph, 0).shape
    return (batches, *graph.results(op)[0].shape[1:3], channels)


def _broadcast(op: Operator, graph: Graph) -> Shape | None:
    given, made = require_input(op, graph, 0).shape, graph.results(op)[0].shape
    pairs = zip(reversed(given), reversed(made), strict=False)
    fits = len(given) <= len(made) and all(extent in (1, other) for extent, other in pairs)
    return made if fits else None


def _times(op: Operator, graph: Graph) -> Shape:
    given, made = require_input(op, graph, 0).shape, graph.results(op)[0].shape
    return tuple(extent // size for size, extent in zip(given, made, strict=True))


def _tiled_shape(op: Operator, graph: Graph) -> Shape | None:
    given, made = require_input(op, graph, 0).shape, graph.results(op)[0].shape
    if len(given) != len(made):
        return None
    counts = _times(op, graph)
    return tuple(size * max(count, 1) for size, count in zip(given, counts, strict=True))


def _dimensions(most: int) -> checks.Rule:
    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        for tensor in graph.results(op):
            if len(tensor.shape) > most:
                message = f"has {len(tensor.shape)} dimensions where up to {most} are supported"
                yield checks.fault(op, message, tensor=tensor)

    return rule


def _reversed_axes(op: Operator, graph: Graph) -> tuple[int, ...]:
    dimensions = len(require_input(op, graph, 0).shape)
    axes = require_input(op, graph, 1).array.reshape(-1).tolist()
    return tuple(sorted(int(axis) + dimensions * (axis < 0) for axis in axes))


def _neighbours(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, axes = require_input(op, graph, 0), require_input(op, graph, 1)
    turned = _reversed_axes(op, graph)
    inside = all(0 <= axis < len(x.shape) for axis in turned)
    if len(axes.shape) != 1 or not inside or turned != tuple(range(turned[0], turned[-1] + 1)):
        message = f"holds axes {axes.array.tolist()}, which are no neighbours among the"
        yield checks.fault(op, f"{message} {len(x.shape)} dimensions of the input", tensor=axes)


def _same_shape(op: Operator, graph: Graph) -> Shape:
    return require_input(op, graph, 0).shape


_RESIZE_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=checks.QUANTIZED),
    checks.same_type(),
    checks.same_quantization,
    checks.rank(0, dimensions=4),
    checks.output_shape(_resized_shape),
    _sides,
)
_BROADCAST_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=checks.MOVED),
    checks.same_type(),
    checks.same_quantization,
    _dimensions(MOST_BROADCAST),
    checks.output_shape(_broadcast),
)
_TILE_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=checks.MOVED),
    checks.same_type(),
    checks.same_quantization,
    checks.output_shape(_tiled_shape),
)
_REVERSE_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.activations(0, types=checks.MOVED),
    checks.same_type(),
    checks.constant(1, "int32"),
    checks.same_quantization,
    _dimensions(MOST_REVERSED),
    _neighbours,
    checks.output_shape(_same_shape),
)

BROADCAST_TO = BroadcastTo()
RESIZE_NEAREST_NEIGHBOR = ResizeNearest()
REVERSE_V2 = Reverse()
TILE = Tile()
