"""MEAN over constant axes: one multiplication divides by the count and requantises."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from atoll.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.checks import required
from atoll.ops.overlap import Distances
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    mbqm,
    quantize_multiplier,
    scale_of,
    zero_point_of,
)
from atoll.ops.registry import Array

if TYPE_CHECKING:
    from atoll.ir.tir import Lowered


class Mean:
    """MEAN; the second input holds the axes, which may count from the end."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 and constant axes."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how many values make one; there are no multiply-accumulates."""
        return {"macs": 0, "reduced": reduced_elements(op, graph)}

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Scale the sums of the values less their zero point."""
        x, (output,) = required(op, graph, 0), graph.results(op)
        centred = np.asarray(inputs[0], np.int64) - zero_point_of(x)
        scaled = mbqm(centred.sum(axis=mean_axes(op, graph)), *mean_scaling(op, graph))
        result = np.clip(scaled + zero_point_of(output), INT8_MIN, INT8_MAX)
        return (result.astype(np.int8).reshape(output.shape),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place: means are written as fast as values go, or slower.

        All that one mean needs is read before it is written, and the values of the next ones lie
        above it.
        """
        return (0, *(None,) * (len(op.inputs) - 1))

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.reduction_loops import lower_mean

        return lower_mean(op, graph)


def mean_axes(op: Operator, graph: Graph) -> tuple[int, ...]:
    """Return the dimensions that vanish, ascending, each once."""
    dimensions = len(required(op, graph, 0).shape)
    axes = required(op, graph, 1).array.astype(np.int64).reshape(-1).tolist()
    return tuple(sorted({axis % dimensions for axis in axes}))


def reduced_elements(op: Operator, graph: Graph) -> int:
    """Count the values that make one mean."""
    shape = required(op, graph, 0).shape
    return prod(shape[axis] for axis in mean_axes(op, graph))


def mean_scaling(op: Operator, graph: Graph) -> tuple[int, int]:
    """Return (multiplier, shift) that turn a sum into a requantised mean."""
    (factor,) = _factor(op, graph)
    multiplier, shift = quantize_multiplier(factor)
    count = reduced_elements(op, graph)
    gain = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << gain) // count, shift - gain


def _factor(op: Operator, graph: Graph) -> tuple[float]:
    (output,) = graph.results(op)
    return (scale_of(required(op, graph, 0)) / scale_of(output),)


def _axes(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, table = required(op, graph, 0), required(op, graph, 1)
    dimensions = len(x.shape)
    axes = table.array.astype(np.int64).reshape(-1).tolist()
    if not axes or not all(-dimensions <= axis < dimensions for axis in axes):
        message = f"holds axes {axes}, which do not fit a shape of {dimensions} dimensions"
        yield checks.fault(op, message, tensor=table)


def _output_shape(op: Operator, graph: Graph) -> tuple[int, ...]:
    axes, keep = mean_axes(op, graph), bool(op.attributes["keep_dims"])
    extents = enumerate(required(op, graph, 0).shape)
    return tuple(
        1 if axis in axes else extent for axis, extent in extents if keep or axis not in axes
    )


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(0),
    checks.constant(1, "int32"),
    _axes,
    checks.output_shape(_output_shape),
    checks.factors(_factor),
)

MEAN = Mean()
