"""What operators share whose result is elements of the input at even steps along its axes."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from atoll.ir.expressions import add, multiply
from atoll.ir.graph import ITEM_BYTES, Graph, Operator
from atoll.ir.tir import Const, Expr, Lowered
from atoll.ops.checks import required
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Distances, Rates
from atoll.ops.moves.movement import Movement
from atoll.ops.overlap import MOST_PIXELS, Bytes, useful


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the result; steps are in elements, from one index to the next.

    Attributes:
        extent: elements along it.
        read: step in the input, below 0 where it is read from its end.
        write: step in the result.
    """

    extent: int
    read: int
    write: int


class Strided(Movement):
    """Loops over the result in its order; neighbouring axes that one step goes through are one.

    With its result over the operand bytes move one by one.
    """

    rates = Rates(made=18)
    slower_over_operands = True
    parallel = ("i0",)

    @abstractmethod
    def taken(self, op: Operator, graph: Graph) -> tuple[int, Sequence[int], Sequence[int]]:
        """Return the element of the input that comes first, and extents and steps of the axes."""

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep each element until it is read; it is read right before it is written."""
        x, (output,) = required(op, graph, 0), graph.results(op)
        others = (None,) * (len(op.inputs) - 1)
        if output.elements > MOST_PIXELS:
            return (None, *others)
        read, write, axes = self._ascending(op, graph)
        reads = read + _places([(axis.extent, axis.read) for axis in axes])
        ends = write + _places([(axis.extent, axis.write) for axis in axes]) + 1
        later = np.minimum.accumulate(reads[::-1])[::-1]
        distance = max(0, int((ends[:-1] - later[1:]).max(initial=0)))
        return (useful(distance * ITEM_BYTES[x.dtype], output.size), *others)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Go through the axes."""
        read, write, axes = self._ascending(op, graph)
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        source: Expr = Const(read)
        target: Expr = Const(write)
        with ExitStack() as nest:
            for number, axis in enumerate(axes):
                if number:
                    source = builder.let("source", source)
                    target = builder.let("target", target)
                i = nest.enter_context(builder.loop(f"i{number}", 0, axis.extent))
                source = add(source, multiply(i, axis.read))
                target = add(target, multiply(i, axis.write))
            y[target] = x[source]
        return builder.lowered()

    def _ascending(self, op: Operator, graph: Graph) -> tuple[int, int, list[Axis]]:
        """Return where reading and writing begin, and the axes, read upwards in every one.

        LLVM 22.1 vectorises loops wrongly that step backwards over several elements: what is read
        from its end is written from its end instead, where the innermost step is 1.
        """
        read, extents, steps = self.taken(op, graph)
        write, axes = 0, list[Axis]()
        for axis in _joined(extents, steps):
            if axis.read < 0:
                read += (axis.extent - 1) * axis.read
                write += (axis.extent - 1) * axis.write
                axis = Axis(axis.extent, -axis.read, -axis.write)
            axes.append(axis)
        return read, write, axes


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the elements from one index of each dimension to the next."""
    steps = [1]
    for extent in reversed(shape[1:]):
        steps.append(steps[-1] * extent)
    return tuple(reversed(steps[: len(shape)]))


def _joined(extents: Sequence[int], steps: Sequence[int]) -> Iterator[Axis]:
    """Yield axes, outermost first, none of extent 1, where two of an even step have become one."""
    axes: list[Axis] = []
    for extent, read, write in zip(extents, steps, row_major(extents), strict=True):
        if extent == 1:
            continue
        if axes and axes[-1].read == extent * read:
            extent *= axes.pop().extent
        axes.append(Axis(extent, read, write))
    yield from axes


def _places(axes: Sequence[tuple[int, int]]) -> Bytes:
    """Return the sum of the steps at each index, in row-major order, flat."""
    places = np.zeros(1, np.int64)
    for extent, step in axes:
        places = np.add.outer(places, np.arange(extent, dtype=np.int64) * step).reshape(-1)
    return places
