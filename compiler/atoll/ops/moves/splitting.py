# SPDX-License-Identifier: Apache-2.0
"""SPLIT, SPLIT_V, UNPACK and PACK: compiled as slices and joins, each of which may be a view."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kind import Array, OperatorKind, Parts
from atoll.ops.moves.slicing import Slice
from atoll.ops.tflite_form import WORD, Attributes, Shapes, TfliteForm

SLICED = ("int8", "int16", "int32")
PACKED = (*SLICED, "int64")
MOST_DIMENSIONS = Slice.most_dimensions


def _axis(options: Any, shapes: Shapes) -> Attributes:
    return {"axis": options.Axis()}


class InParts(OperatorKind):
    """What the kinds share: others do their work."""

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Never asked: there are `parts`."""
        raise AssertionError(f"{op.name} is compiled in parts")


class Splitting(InParts):
    """What splits an input along an axis: a SLICE for each result.

    Attributes:
        x: position of the input.
        sizes: position of a table of extents, if there is one; other constants are the axis.
        vanishes: results do not have the axis.
    """

    x: ClassVar[int] = 0
    sizes: ClassVar[int | None] = None
    vanishes: ClassVar[bool] = False

    @abstractmethod
    def axis(self, op: Operator, graph: Graph) -> int:
        """Return the axis, which may count from the end."""

    @abstractmethod
    def extents(self, op: Operator, graph: Graph) -> list[int] | None:
        """Return how much of the axis each result has, None if that cannot be."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept results that together are the input, 1 to 5 dimensions."""
        constants = self.tflite.constants if self.tflite else {}
        tables = (checks.constant(at, "int32") for at in constants)
        rules = (
            checks.operands(1 + len(constants), 1 + len(constants), results=True),
            checks.activations(self.x, types=SLICED),
            checks.same_type(self.x),
            *tables,
            self._same_quantization,
            self._axis_within,
            self._shapes,
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take what lies between the bounds."""
        values = inputs[self.x]
        assert values is not None
        bounds = self._bounds(op, graph)
        taken = (np.take(values, range(*each), self._at(op, graph)) for each in bounds)
        return tuple(
            np.ascontiguousarray(each).reshape(result.shape)
            for each, result in zip(taken, graph.results(op), strict=True)
        )

    def parts(self, op: Operator, graph: Graph) -> Parts:
        """Slice; where the axis vanishes, a RESHAPE is a view of the slice."""
        x, axis = require_input(op, graph, self.x), self._at(op, graph)
        operators, tensors = list[Operator](), list[Tensor]()
        for number, (bound, result) in enumerate(
            zip(self._bounds(op, graph), graph.results(op), strict=True)
        ):
            name = f"{op.name}_{number}"
            begin, size = [0] * len(x.shape), list(x.shape)
            begin[axis], size[axis] = bound[0], bound[1] - bound[0]
            tables = (_table(f"{name}_begin", begin), _table(f"{name}_size", size))
            tensors += tables
            made = result
            if self.vanishes:
                made = _like(result, f"{name}_slice", tuple(size))
                tensors.append(made)
            inputs = (x.name, *(table.name for table in tables))
            operators.append(_part(op, name, "slice", inputs, made.name))
            if self.vanishes:
                shaped = _part(op, f"{name}_view", "reshape", (made.name,), result.name)
                operators.append(shaped)
        return Parts(operators=tuple(operators), tensors=tuple(tensors))

    def _at(self, op: Operator, graph: Graph) -> int:
        return self.axis(op, graph) % len(require_input(op, graph, self.x).shape)

    def _bounds(self, op: Operator, graph: Graph) -> list[tuple[int, int]]:
        extents = self.extents(op, graph)
        assert extents is not None, op.name
        ends = [0, *accumulate(extents)]
        return [*pairwise(ends)]

    def _same_quantization(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        x = require_input(op, graph, self.x)
        for result in graph.results(op):
            if x.dtype in checks.QUANTIZED and result.quantization != x.quantization:
                message = f"is quantised differently from the input '{x.name}'"
                yield checks.fault(op, message, tensor=result)

    def _axis_within(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        x = require_input(op, graph, self.x)
        dimensions = len(x.shape)
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            message = f"has {dimensions} dimensions where 1 to {MOST_DIMENSIONS} are supported"
            yield checks.fault(op, message, tensor=x)
            return
        for at in self.tflite.constants if self.tflite else ():
            table = require_input(op, graph, at)
            if at != self.sizes and table.elements != 1:
                message = f"has {table.elements} values instead of one axis"
                yield checks.fault(op, message, tensor=table)
                return
        axis = self.axis(op, graph)
        if not -dimensions <= axis < dimensions:
            message = f"has no axis {axis}, only {dimensions} dimensions"
            yield checks.fault(op, message, tensor=x)

    def _shapes(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        x, axis = require_input(op, graph, self.x), self._at(op, graph)
        extents = self.extents(op, graph)
        if extents is None or sum(extents) != x.shape[axis] or min(extents) < 1:
            message = f"its {x.shape[axis]} of dimension {axis} cannot be {len(op.outputs)} results"
            yield checks.fault(op, message, tensor=x)
            return
        for extent, result in zip(extents, graph.results(op), strict=True):
            kept = () if self.vanishes else (extent,)
            wanted = (*x.shape[:axis], *kept, *x.shape[axis + 1 :])
            if result.shape != wanted:
                message = f"has shape {list(result.shape)} instead of {list(wanted)}"
                yield checks.fault(op, message, tensor=result)


class Split(Splitting):
    """SPLIT into as many equal parts as there are results; TFLM: `SplitEval`."""

    tflite = TfliteForm(code="SPLIT", constants={0: "axis"})
    x = 1

    def axis(self, op: Operator, graph: Graph) -> int:
        """Look into the first operand."""
        return int(require_input(op, graph, 0).array.reshape(-1)[0])

    def extents(self, op: Operator, graph: Graph) -> list[int] | None:
        """Divide."""
        each, rest = divmod(require_input(op, graph, 1).shape[self._at(op, graph)], len(op.outputs))
        return None if rest else [each] * len(op.outputs)


class SplitV(Splitting):
    """SPLIT_V into parts of stated sizes, one of which may be -1: the rest; TFLM: `SplitVEval`."""

    tflite = TfliteForm(code="SPLIT_V", constants={1: "sizes", 2: "axis"})
    sizes = 1

    def axis(self, op: Operator, graph: Graph) -> int:
        """Look into the last operand."""
        return int(require_input(op, graph, 2).array.reshape(-1)[0])

    def extents(self, op: Operator, graph: Graph) -> list[int] | None:
        """Look into the second operand."""
        sizes = [int(size) for size in require_input(op, graph, 1).array.reshape(-1)]
        if len(sizes) != len(op.outputs) or sizes.count(-1) > 1:
            return None
        extent = require_input(op, graph, 0).shape[self._at(op, graph)]
        rest = extent - sum(size for size in sizes if size != -1)
        return [rest if size == -1 else size for size in sizes]


class Unpack(Splitting):
    """UNPACK along `axis`, which vanishes, into as many results; TFLM: `UnpackEval`."""

    tflite = TfliteForm(code="UNPACK", table="UnpackOptions", fields={0: WORD, 1: WORD}, read=_axis)
    vanishes = True

    def axis(self, op: Operator, graph: Graph) -> int:
        """Look at the attribute."""
        return op.integer("axis")

    def extents(self, op: Operator, graph: Graph) -> list[int] | None:
        """Take one of each."""
        return [1] * len(op.outputs)


class Pack(InParts):
    """PACK along a new `axis`: inputs of one shape, viewed with it, are joined.

    TFLM: `PackImpl`.
    """

    tflite = TfliteForm(code="PACK", table="PackOptions", fields={0: WORD, 1: WORD}, read=_axis)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept inputs of one shape, quantised alike."""
        rules = (
            checks.operands(1, 2**16),
            checks.all_present,
            checks.activations(types=PACKED),
            checks.same_type(),
            checks.same_quantization,
            checks.output_shape(_packed_shape),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Stack the inputs."""
        present = [values for values in inputs if values is not None]
        return (np.stack(present, op.integer("axis")),)

    def parts(self, op: Operator, graph: Graph) -> Parts:
        """Join views of the inputs."""
        (result,) = graph.results(op)
        axis = op.integer("axis") % len(result.shape)
        shape = (*result.shape[:axis], 1, *result.shape[axis + 1 :])
        names = [f"{op.name}_{number}" for number in range(len(op.inputs))]
        tensors = tuple(_like(result, f"{name}_wide", shape) for name in names)
        views = (
            _part(op, name, "reshape", (source,), tensor.name)
            for name, source, tensor in zip(names, op.inputs, tensors, strict=True)
        )
        wide = tuple(tensor.name for tensor in tensors)
        attributes: Attributes = {"axis": axis, "activation": "none"}
        join = _part(op, f"{op.name}_join", "concatenation", wide, result.name, attributes)
        return Parts(operators=(*views, join), tensors=tensors)


def _packed_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    shapes = {tensor.shape for tensor in graph.operands(op) if tensor is not None}
    (shape, *others), axis = shapes, op.integer("axis")
    if others or not -len(shape) - 1 <= axis <= len(shape):
        return None
    axis %= len(shape) + 1
    return (*shape[:axis], len(op.inputs), *shape[axis:])


def _part(
    op: Operator,
    name: str,
    kind: str,
    inputs: tuple[str, ...],
    result: str,
    attributes: Attributes | None = None,
) -> Operator:
    return Operator(
        name=name,
        kind=kind,
        inputs=inputs,
        outputs=(result,),
        attributes=attributes or {},
        index=op.index,
    )


def _table(name: str, values: list[int]) -> Tensor:
    data = np.array(values, np.int32)
    return Tensor(name=name, shape=data.shape, dtype="int32", data=data.tobytes())


def _like(tensor: Tensor, name: str, shape: tuple[int, ...]) -> Tensor:
    return Tensor(name=name, shape=shape, dtype=tensor.dtype, quantization=tensor.quantization)


SPLIT = Split()
SPLIT_V = SplitV()
UNPACK = Unpack()
PACK = Pack()
