# SPDX-License-Identifier: Apache-2.0
"""GATHER, GATHER_ND, EMBEDDING_LOOKUP: slices of the input, at constant or computed indices."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import add, clamp, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances
from atoll.ops.moves.movement import Movement, move
from atoll.ops.moves.strided import row_major
from atoll.ops.tflite_form import WORD, Attributes, Shapes, TfliteForm

Shape = tuple[int, ...]
MOST_INDICES = 5
"""Numbers of an index of GATHER_ND that TFLM's kernel has room for."""


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"axis": options.Axis(), "batch_dims": options.BatchDims()}


class _Gathered(Movement):
    """What the kinds share: computed indices outside the input are drawn in."""

    @abstractmethod
    def fitting(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Find options that do not fit the shapes, and constant indices outside the input."""

    @abstractmethod
    def shape(self, op: Operator, graph: Graph) -> Shape:
        """Return the result's shape."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8, and int32 indices; constant ones within the input."""
        rules = (
            checks.operands(2, 2),
            checks.int8_activations(0),
            checks.same_quantization,
            _int32_indices,
            self.fitting,
            checks.output_shape(self.shape),
        )
        checks.apply(rules, op, graph)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart: any element may be read at any time."""
        return (None,) * len(op.inputs)


class Gather(_Gathered):
    """GATHER along `axis`, for each index of the first `batch_dims` dimensions by itself.

    TFLM: `Gather`, which reads outside the input where computed indices say so.
    """

    tflite = TfliteForm(
        code="GATHER",
        table="GatherOptions",
        may_lack_table=True,
        fields={0: WORD, 1: WORD},
        read=_options,
        constants={1: "indices"},
    )
    parallel = ("coordinate", "outer", "batch")

    def shape(self, op: Operator, graph: Graph) -> Shape:
        """Put the indices' dimensions where the axis was."""
        x, indices = require_input(op, graph, 0).shape, require_input(op, graph, 1).shape
        axis, batch = _axes(op, graph)
        return (*x[:axis], *indices[batch:], *x[axis + 1 :])

    def fitting(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Require an axis behind the batches, which are alike."""
        x, indices = require_input(op, graph, 0), require_input(op, graph, 1)
        axis, batch = _axes(op, graph)
        fits = 0 <= batch <= axis < len(x.shape) and batch <= len(indices.shape)
        if not fits or x.shape[:batch] != indices.shape[:batch]:
            message = f"has axis {op.integer('axis')} and batch_dims {op.integer('batch_dims')}"
            yield checks.fault(op, f"{message}, which do not fit the inputs' shapes", tensor=x)
        elif indices.data is not None and not _inside(indices.array, x.shape[axis]):
            message = f"holds an index outside the {x.shape[axis]} of dimension {axis}"
            yield checks.fault(op, message, tensor=indices)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take slices."""
        assert inputs[0] is not None
        batches, outer, extent, count, inner = _extents(op, graph)
        source = inputs[0].reshape(batches, outer, extent, inner)
        chosen = np.clip(np.asarray(inputs[1]), 0, extent - 1).reshape(batches, count)
        each = [source[at][:, chosen[at]] for at in range(batches)]
        return (np.stack(each).reshape(graph.results(op)[0].shape),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over batches, what is outside of the axis, and indices."""
        batches, outer, extent, count, inner = _extents(op, graph)
        computed = require_input(op, graph, 1).data is None
        builder = KernelBuilder(op, graph)
        x, indices, y = builder.input(0, "x"), builder.input(1, "indices"), builder.output()
        with builder.loop("batch", 0, batches) as b, builder.loop("outer", 0, outer) as o:
            place = builder.let("place", add(multiply(b, outer), o))
            first = builder.let("first", multiply(b, count))
            with builder.loop("coordinate", 0, count) as c:
                index = builder.let("index", indices.wide(add(first, c)))
                if computed:
                    index = builder.let("inside", clamp(index, 0, extent - 1))
                source = multiply(add(multiply(place, extent), index), inner)
                target = multiply(add(multiply(place, count), c), inner)
                target, source = builder.let("target", target), builder.let("source", source)
                move(builder, y, target, x, source, inner)
        return builder.lowered()


class EmbeddingLookup(Gather):
    """EMBEDDING_LOOKUP: rows of a table, for each index (TFLM: `EvalSimple`).

    TFLM ends the run where an index is not within the table.
    """

    tflite = TfliteForm(
        code="EMBEDDING_LOOKUP",
        read=lambda options, shapes: {"axis": 0, "batch_dims": 0},
        constants={0: "indices", 1: "table"},
        order=(1, 0),
    )

    def fitting(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Require rows, and a list of indices."""
        x, indices = require_input(op, graph, 0), require_input(op, graph, 1)
        if len(x.shape) < 2 or len(indices.shape) != 1:
            message = f"has indices {list(indices.shape)} of a table {list(x.shape)}"
            yield checks.fault(op, f"{message}; a list and rows are supported", tensor=x)
        else:
            yield from super().fitting(op, graph)


class GatherNd(_Gathered):
    """GATHER_ND: the last dimension of the indices holds where a slice begins.

    TFLM (`GatherNd`) ends the run where a slice is not within the input.
    """

    tflite = TfliteForm(code="GATHER_ND", constants={1: "indices"})
    parallel = ("slice",)

    def shape(self, op: Operator, graph: Graph) -> Shape:
        """Put the slices' dimensions behind those of the indices."""
        x, indices = require_input(op, graph, 0).shape, require_input(op, graph, 1).shape
        return (*indices[:-1], *x[indices[-1] :])

    def fitting(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Require as many numbers as there are dimensions, or fewer."""
        x, indices = require_input(op, graph, 0), require_input(op, graph, 1)
        most = min(len(x.shape), MOST_INDICES)
        if not indices.shape or indices.shape[-1] > most:
            message = f"has shape {list(indices.shape)}, the last dimension may be {most}"
            yield checks.fault(op, message, tensor=indices)
        elif indices.data is not None:
            columns = np.moveaxis(indices.array, -1, 0)
            for dimension, numbers in enumerate(columns):
                if not _inside(numbers, x.shape[dimension]):
                    size = x.shape[dimension]
                    message = f"holds an index outside the {size} of dimension {dimension}"
                    yield checks.fault(op, message, tensor=indices)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take slices, from the nearest place within the input."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        assert inputs[0] is not None
        numbers = np.asarray(inputs[1], np.int64)
        steps = np.array(row_major(x.shape)[: numbers.shape[-1]])
        size = prod(x.shape[numbers.shape[-1] :])
        starts = (numbers * steps).sum(axis=-1).astype(np.int32).reshape(-1, 1)
        places = np.clip(starts, 0, x.elements - size) + np.arange(size)
        return (inputs[0].reshape(-1)[places].reshape(output.shape),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the slices."""
        x_tensor, index_tensor = require_input(op, graph, 0), require_input(op, graph, 1)
        count = index_tensor.shape[-1]
        steps, size = row_major(x_tensor.shape)[:count], prod(x_tensor.shape[count:])
        builder = KernelBuilder(op, graph)
        x, indices, y = builder.input(0, "x"), builder.input(1, "indices"), builder.output()
        with builder.loop("slice", 0, index_tensor.elements // count) as s:
            first = builder.let("first", multiply(s, count))
            terms = [multiply(indices.wide(add(first, at)), step) for at, step in enumerate(steps)]
            start = builder.let("start", add(*terms))
            if index_tensor.data is None:
                start = builder.let("inside", clamp(start, 0, x_tensor.elements - size))
            target = builder.let("target", multiply(s, size))
            move(builder, y, target, x, start, size)
        return builder.lowered()


def _axes(op: Operator, graph: Graph) -> tuple[int, int]:
    """Return axis and batch dimensions, counted from the front."""
    x, indices = require_input(op, graph, 0).shape, require_input(op, graph, 1).shape
    axis, batch = op.integer("axis"), op.integer("batch_dims")
    return axis + len(x) * (axis < 0), batch + len(indices) * (batch < 0)


def _extents(op: Operator, graph: Graph) -> tuple[int, int, int, int, int]:
    """Return batches, what is outside of the axis, its extent, indices, and what is inside."""
    x, indices = require_input(op, graph, 0).shape, require_input(op, graph, 1).shape
    axis, batch = _axes(op, graph)
    outer, inner = prod(x[batch:axis]), prod(x[axis + 1 :])
    return prod(x[:batch]), outer, x[axis], prod(indices[batch:]), inner


def _inside(numbers: Array, extent: int) -> bool:
    values = numbers.astype(np.int64)
    return bool(((values >= 0) & (values < extent)).all())


def _int32_indices(op: Operator, graph: Graph) -> Iterator[Fault]:
    indices = require_input(op, graph, 1)
    if indices.dtype != "int32":
        yield checks.fault(op, f"has type {indices.dtype} instead of int32", tensor=indices)


EMBEDDING_LOOKUP = EmbeddingLookup()
GATHER = Gather()
GATHER_ND = GatherNd()
