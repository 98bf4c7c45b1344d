# SPDX-License-Identifier: Apache-2.0
"""SLICE and STRIDED_SLICE: what lies within bounds along each dimension."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kind import Array
from atoll.ops.moves.strided import Axis, Strided, even, in_order
from atoll.ops.tflite_form import BYTE, WORD, Attributes, OptionError, Shapes, TfliteForm

TYPES = ("int8", "int16", "int32", "bool")


def _masks(options: Any, shapes: Shapes) -> Attributes:
    for name, value in (
        ("ellipsis_mask", options.EllipsisMask()),
        ("new_axis_mask", options.NewAxisMask()),
        ("offset", options.Offset()),
    ):
        if value:
            raise OptionError(f"has {name} {int(value)}, only 0 is supported")
    return {
        "begin_mask": options.BeginMask(),
        "end_mask": options.EndMask(),
        "shrink_axis_mask": options.ShrinkAxisMask(),
    }


class Slicing(Strided):
    """What the kinds share: constants with a value for each dimension."""

    most_dimensions: ClassVar[int]
    table_types: ClassVar[tuple[str, ...]] = ("int32",)

    @abstractmethod
    def ranges(self, op: Operator, graph: Graph) -> list[range]:
        """Return the indices along each dimension of the input."""

    def shape(self, op: Operator, graph: Graph) -> tuple[int, ...]:
        """Return the result's shape."""
        return tuple(len(each) for each in self.ranges(op, graph))

    def values(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Find what is wrong with the constants, which have the right shapes."""
        x = require_input(op, graph, 0)
        for dimension, taken in enumerate(self.ranges(op, graph)):
            size = x.shape[dimension]
            if not taken or not (taken[0] in range(size) and taken[-1] in range(size)):
                message = f"takes nothing, or what is outside, of the {size} of dimension"
                yield checks.fault(op, f"{message} {dimension}", tensor=x)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept constants that take something of each dimension."""
        assert self.tflite is not None
        count = len(self.tflite.constants)
        tables = (checks.constant(at + 1, *self.table_types) for at in range(count))
        rules = (
            checks.operands(count + 1, count + 1),
            checks.activations(0, types=TYPES),
            checks.same_type(),
            *tables,
            checks.same_quantization,
            _lengths(self.most_dimensions),
            self.values,
            checks.output_shape(self.shape),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Index the input."""
        assert inputs[0] is not None
        taken = inputs[0][np.ix_(*(np.array(each) for each in self.ranges(op, graph)))]
        return (np.ascontiguousarray(taken).reshape(graph.results(op)[0].shape),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the ranges."""
        dimensions = even(require_input(op, graph, 0).shape)
        ranges = self.ranges(op, graph)
        return in_order([each[list(taken)] for each, taken in zip(dimensions, ranges, strict=True)])


class Slice(Slicing):
    """SLICE from `begin`, `size` elements or, if that is -1, all; TFLM: `SliceEval`."""

    tflite = TfliteForm(code="SLICE", constants={1: "begin", 2: "size"})
    most_dimensions = 5
    table_types = ("int32", "int64")

    def ranges(self, op: Operator, graph: Graph) -> list[range]:
        """Count from `begin`."""
        x, begins, sizes = require_input(op, graph, 0), _table(op, graph, 1), _table(op, graph, 2)
        return [
            range(begin, extent if size == -1 else begin + size)
            for extent, begin, size in zip(x.shape, begins, sizes, strict=True)
        ]


class StridedSlice(Slicing):
    """STRIDED_SLICE from `begin` to before `end`, each of which counts from the end below 0.

    Bounds outside the input are drawn in. A dimension in `shrink_axis_mask` has one index and
    vanishes. TFLM: `StartForAxis`, `StopForAxis`.
    """

    tflite = TfliteForm(
        code="STRIDED_SLICE",
        table="StridedSliceOptions",
        may_lack_table=True,
        fields={0: WORD, 1: WORD, 2: WORD, 3: WORD, 4: WORD, 5: BYTE},
        read=_masks,
        constants={1: "begin", 2: "end", 3: "strides"},
    )
    most_dimensions = 4

    def ranges(self, op: Operator, graph: Graph) -> list[range]:
        """Draw the bounds in."""
        begins, ends, strides = (_table(op, graph, at) for at in (1, 2, 3))
        return [
            self._range(op, dimension, extent, begins[dimension], ends[dimension], strides)
            for dimension, extent in enumerate(require_input(op, graph, 0).shape)
        ]

    def shape(self, op: Operator, graph: Graph) -> tuple[int, ...]:
        """Leave out the dimensions that vanish."""
        ranges = enumerate(self.ranges(op, graph))
        return tuple(len(each) for at, each in ranges if not _in(op, "shrink_axis_mask", at))

    def values(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Refuse strides of 0, and such below 0 of one index, of which TFLM takes nothing."""
        strides = _table(op, graph, 3)
        shrunk = [_in(op, "shrink_axis_mask", at) for at in range(len(strides))]
        if any(
            not stride or (stride < 0 and gone)
            for stride, gone in zip(strides, shrunk, strict=True)
        ):
            message = f"holds strides {strides}; 0, or one below 0 of one index, takes nothing"
            yield checks.fault(op, message, tensor=require_input(op, graph, 3))
        else:
            yield from super().values(op, graph)

    def _range(
        self, op: Operator, dimension: int, extent: int, begin: int, end: int, strides: list[int]
    ) -> range:
        stride = strides[dimension]
        low, high = (0, extent) if stride > 0 else (-1, extent - 1)
        first, last = (low, high) if stride > 0 else (high, low)
        start, stop = (min(max(n + extent * (n < 0), low), high) for n in (begin, end))
        if _in(op, "begin_mask", dimension):
            start = first
        if _in(op, "end_mask", dimension):
            stop = last
        if _in(op, "shrink_axis_mask", dimension):
            return range(start, start + 1)
        return range(start, stop, stride)


def _in(op: Operator, mask: str, dimension: int) -> bool:
    return bool(op.integer(mask) >> dimension & 1)


def _table(op: Operator, graph: Graph, position: int) -> list[int]:
    return [int(value) for value in require_input(op, graph, position).array.reshape(-1)]


def _lengths(most: int) -> checks.Rule:
    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        x = require_input(op, graph, 0)
        dimensions = len(x.shape)
        if not 1 <= dimensions <= most:
            message = f"has {dimensions} dimensions where 1 to {most} are supported"
            yield checks.fault(op, message, tensor=x)
        for table in (require_input(op, graph, at) for at in range(1, len(op.inputs))):
            if table.shape != (dimensions,):
                message = f"has shape {list(table.shape)} instead of {[dimensions]}"
                yield checks.fault(op, message, tensor=table)
            elif table.dtype != require_input(op, graph, 1).dtype:
                message = f"has type {table.dtype}, other than the operand before it"
                yield checks.fault(op, message, tensor=table)

    return rule


SLICE = Slice()
STRIDED_SLICE = StridedSlice()
