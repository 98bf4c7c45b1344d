"""RESHAPE, PAD, CONCATENATION and copy: bytes move, values stay."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from atoll.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.checks import required
from atoll.ops.overlap import Distances, concatenation_distances
from atoll.ops.quantization import zero_point_of
from atoll.ops.registry import Array

if TYPE_CHECKING:
    from atoll.ir.tir import Lowered


class Movement:
    """What the kinds share."""

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the bytes written; there are no multiply-accumulates."""
        return {"macs": 0, "bytes": graph.results(op)[0].size}

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the place of the first input, whose elements keep their order."""
        return (0, *(None,) * (len(op.inputs) - 1))


class Reshape(Movement):
    """RESHAPE to the shape of the output tensor."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept as many int8 elements as the output has."""
        checks.apply(_RESHAPE_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Give the same elements the output's shape."""
        assert inputs[0] is not None
        return (inputs[0].reshape(graph.results(op)[0].shape),)

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.shape_loops import lower_reshape

        return lower_reshape(op, graph)


class Pad(Movement):
    """PAD with the zero point; the second input holds (before, after) for each dimension."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept constant paddings that are 0 or more."""
        checks.apply(_PAD_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Surround the input with the zero point."""
        assert inputs[0] is not None
        fill = zero_point_of(graph.results(op)[0])
        return (np.pad(inputs[0], paddings(op, graph), constant_values=fill),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart: the output is filled before the input is read."""
        return (None,) * len(op.inputs)

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.shape_loops import lower_pad

        return lower_pad(op, graph)


class Concatenation(Movement):
    """CONCATENATION of one or more inputs along `axis`, which may count from the end."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept inputs quantised alike that differ in extent along the axis only."""
        checks.apply(_CONCATENATION_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Join the inputs in their order."""
        present = [values for values in inputs if values is not None]
        return (np.concatenate(present, axis=op.integer("axis")),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let each input lie where it ends up, or above."""
        (output,) = graph.results(op)
        axis = op.integer("axis") % len(output.shape)
        inputs = (required(op, graph, position) for position in range(len(op.inputs)))
        runs = tuple(prod(tensor.shape[axis:]) for tensor in inputs)
        return concatenation_distances(runs, prod(output.shape[:axis]))

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.shape_loops import lower_concatenation

        return lower_concatenation(op, graph)


class Copy(Movement):
    """Move a tensor between pools; placement makes it, no model file holds it."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a tensor of the output's type and shape."""
        checks.apply(_COPY_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Return the input."""
        assert inputs[0] is not None
        return (inputs[0],)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep apart: the tensors lie in different pools, and may be moved in larger pieces."""
        return (None,)

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.shape_loops import lower_copy

        return lower_copy(op, graph)


def paddings(op: Operator, graph: Graph) -> tuple[tuple[int, int], ...]:
    """Return the elements that `pad` adds (before, after) each dimension."""
    pairs = required(op, graph, 1).array.astype(np.int64).reshape(-1, 2).tolist()
    return tuple((before, after) for before, after in pairs)


def _same_elements(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    (output,) = graph.results(op)
    return output.shape if output.elements == required(op, graph, 0).elements else None


def _paddings(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, table = required(op, graph, 0), required(op, graph, 1)
    if table.shape != (len(x.shape), 2):
        message = f"has shape {list(table.shape)} instead of {[len(x.shape), 2]}"
        yield checks.fault(op, message, tensor=table)
    elif table.elements and int(table.array.astype(np.int64).min()) < 0:
        yield checks.fault(op, "holds a padding below 0", tensor=table)


def _padded(op: Operator, graph: Graph) -> tuple[int, ...]:
    pairs = zip(required(op, graph, 0).shape, paddings(op, graph), strict=True)
    return tuple(size + before + after for size, (before, after) in pairs)


def _joined(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    shapes = [tensor.shape for tensor in graph.operands(op) if tensor is not None]
    dimensions, axis = len(shapes[0]), op.integer("axis")
    if not -dimensions <= axis < dimensions or {len(shape) for shape in shapes} != {dimensions}:
        return None
    axis %= dimensions
    if len({shape[:axis] + shape[axis + 1 :] for shape in shapes}) != 1:
        return None
    return (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])


def _no_activation(op: Operator, graph: Graph) -> Iterator[Fault]:
    chosen, (output,) = op.attributes["activation"], graph.results(op)
    if chosen != "none":
        yield checks.fault(op, f"fused activation '{chosen}' is not supported", tensor=output)


def _same_type(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = required(op, graph, 0), graph.results(op)
    if x.dtype != output.dtype:
        yield checks.fault(op, f"has type {output.dtype} instead of {x.dtype}", tensor=output)


_RESHAPE_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 2),
    checks.int8_activations(0),
    checks.same_quantization,
    checks.output_shape(_same_elements),
)
_PAD_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(0),
    checks.constant(1, "int32", "int64"),
    checks.same_quantization,
    _paddings,
    checks.output_shape(_padded),
)
_CONCATENATION_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 2**16),
    checks.all_present,
    checks.int8_activations(),
    checks.same_quantization,
    _no_activation,
    checks.output_shape(_joined),
)
_COPY_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    _same_type,
    checks.output_shape(lambda op, graph: required(op, graph, 0).shape),
)

RESHAPE = Reshape()
PAD = Pad()
CONCATENATION = Concatenation()
COPY = Copy()
