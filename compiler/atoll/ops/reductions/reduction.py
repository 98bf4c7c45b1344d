# SPDX-License-Identifier: Apache-2.0
"""What operators share that make one value of all along some constant axes."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import groupby
from math import prod

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import add, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind
from atoll.ops.quantization import Integers
from atoll.ops.rounding import rounding_feature

Extents = list[tuple[int, int]]

Values = Callable[[], AbstractContextManager[tuple[Expr, Expr]]]
"""Loops over the values that make one result: yields each as `I32`, and how many went before."""


class Reduction(OperatorKind):
    """What the kinds share; the second input holds the axes, which may count from the end."""

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how many values make one, and how they lie; there are no multiply-accumulates."""
        rows, channels = around(op, graph)
        reduced = reduced_elements(op, graph)
        apart = rows * reduced * channels != require_input(op, graph, 0).elements
        return {
            "macs": 0,
            "reduced": reduced,
            "rows": rows,
            "channels": channels,
            "apart": int(apart),
            **rounding_feature(op),
        }

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Reduce the axes."""
        (output,) = graph.results(op)
        result = self.reduce(op, graph, np.asarray(inputs[0], np.int64))
        return (result.astype(output.dtype).reshape(output.shape),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place.

        Results are written as fast as values go, or slower: all that one result needs is read
        before it is written, and the values of the next ones lie above it.
        """
        return (0, *(None,) * (len(op.inputs) - 1))

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Go through the values of each index that is kept."""
        source = graph.tensor(op.inputs[0])
        kept, reduced = _split(source.shape, axes_of(op, graph))
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        with _nest(builder, "kept", kept) as (base, place):

            @contextmanager
            def values() -> Iterator[tuple[Expr, Expr]]:
                with _nest(builder, "reduced", reduced) as (offset, number):
                    yield x.wide(add(base, offset)), number

            y[place] = self.result(op, graph, builder, values)
        return builder.lowered()

    @abstractmethod
    def reduce(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Return the results, in the range of their type, of the input's values."""

    @abstractmethod
    def result(self, op: Operator, graph: Graph, builder: KernelBuilder, values: Values) -> Expr:
        """Add the loop that makes one result."""


def axes_of(op: Operator, graph: Graph) -> tuple[int, ...]:
    """Return the dimensions that vanish, ascending, each once."""
    dimensions = len(require_input(op, graph, 0).shape)
    axes = require_input(op, graph, 1).array.astype(np.int64).reshape(-1).tolist()
    return tuple(sorted({axis % dimensions for axis in axes}))


def reduced_elements(op: Operator, graph: Graph) -> int:
    """Count the values that make one."""
    shape = require_input(op, graph, 0).shape
    return prod(shape[axis] for axis in axes_of(op, graph))


def around(op: Operator, graph: Graph) -> tuple[int, int]:
    """Count the values before the dimensions that vanish, and behind them.

    Those of extent 1 do not matter. If others are between two that vanish, they are in neither.
    """
    shape, axes = require_input(op, graph, 0).shape, axes_of(op, graph)
    wide = [axis for axis in axes if shape[axis] > 1] or axes[:1]
    return prod(shape[: wide[0]]), prod(shape[wide[-1] + 1 :])


def valid_axes(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require axes that the input has, at least one."""
    x, table = require_input(op, graph, 0), require_input(op, graph, 1)
    dimensions = len(x.shape)
    axes = table.array.astype(np.int64).reshape(-1).tolist()
    if not axes or not all(-dimensions <= axis < dimensions for axis in axes):
        message = f"holds axes {axes}, which do not fit a shape of {dimensions} dimensions"
        yield checks.fault(op, message, tensor=table)


def one_axis(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require as many axes."""
    table = require_input(op, graph, 1)
    if table.elements != 1:
        yield checks.fault(op, f"holds {table.elements} axes instead of 1", tensor=table)


def _kept_shape(op: Operator, graph: Graph) -> tuple[int, ...]:
    """Return the shape that is left; `keep_dims` keeps dimensions of extent 1."""
    axes, keep = axes_of(op, graph), bool(op.attributes.get("keep_dims", False))
    extents = enumerate(require_input(op, graph, 0).shape)
    return tuple(
        1 if axis in axes else extent for axis, extent in extents if keep or axis not in axes
    )


def _split(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Extents, Extents]:
    """Return (extent, stride) of the kept and of the reduced dimensions, neighbours joined."""
    kept: Extents = []
    reduced: Extents = []
    for vanishes, group in groupby(range(len(shape)), key=lambda axis: axis in axes):
        dimensions = list(group)
        extent = prod(shape[axis] for axis in dimensions)
        (reduced if vanishes else kept).append((extent, prod(shape[dimensions[-1] + 1 :])))
    return kept, reduced


@contextmanager
def _nest(builder: KernelBuilder, name: str, extents: Extents) -> Iterator[tuple[Expr, Expr]]:
    """Loop over some dimensions: yield the offset in the input, and how many went before."""
    offset: Expr = Const(0)
    place: Expr = Const(0)
    with ExitStack() as nest:
        for level, (extent, stride) in enumerate(extents):
            i = nest.enter_context(builder.loop(f"{name}{level}", 0, extent))
            offset = add(offset, multiply(i, stride))
            place = add(multiply(place, extent), i)
        yield builder.let(f"{name}_offset", offset), place


def rules(types: checks.Rule) -> tuple[checks.Rule, ...]:
    """Return what all require; `types` is the rule of their types."""
    return (
        checks.operands(2, 2),
        types,
        checks.constant(1, "int32"),
        valid_axes,
        checks.output_shape(_kept_shape),
    )
