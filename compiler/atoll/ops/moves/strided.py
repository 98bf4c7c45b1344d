# SPDX-License-Identifier: Apache-2.0
"""What operators share that move elements by loops over axes: steps, even or looked up."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import numpy as np

from atoll.ir.builder import Buffer
from atoll.ir.expressions import Operand, add, multiply
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ir.tir import Const, Expr, Lowered, Type
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Distances
from atoll.ops.moves.movement import Movement
from atoll.ops.overlap import MOST_PIXELS, useful
from atoll.ops.quantization import Integers
from atoll.records import dataclass

Steps = int | tuple[int, ...]
"""From one index to the next, or what is added for each index."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What an index adds to the places that are read and written, in elements; equally many."""

    reads: Integers
    writes: Integers


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the kernel over `extent` indices, the first of which adds nothing."""

    extent: int
    read: Steps
    write: Steps

    def around(self, inner: "Loop") -> "Loop | None":
        """Return the one loop that does what `inner` does within this one, if there is one."""
        even = all(isinstance(each, int) for each in (self.read, self.write))
        if even and (self.read, self.write) == (
            inner.extent * inner.read,
            inner.extent * inner.write,
        ):
            return Loop(self.extent * inner.extent, inner.read, inner.write)
        return None


class Strided(Movement):
    """Loops over axes, of which neighbours with one even step are one loop.

    With its result over the operand bytes move one by one.
    """

    slower_over_operands = True
    parallel = ("i0",)

    @abstractmethod
    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Return the axes, outermost first; each element of the input has a sum of reads."""

    def filling(self, op: Operator, graph: Graph) -> int | Tensor | None:
        """Return what elements of the result are that none of the input becomes, None for none.

        It may be a value that an operand holds.
        """
        return None

    def view_offset(self, op: Operator, graph: Graph) -> int | None:
        """Begin at the first element, if the others follow it: such as whole rows of a slice."""
        if self.filling(op, graph) is not None:
            return None
        read, _, loops = _loops(self.axes(op, graph))
        if loops and [(loop.read, loop.write) for loop in loops] != [(1, 1)]:
            return None
        return read * ITEM_BYTES[require_input(op, graph, 0).dtype]

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep each element until it is read; it is read right before it is written."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        others = (None,) * (len(op.inputs) - 1)
        if output.elements > MOST_PIXELS or self.filling(op, graph) is not None:
            return (None, *others)
        read, write, loops = _loops(self.axes(op, graph))
        reads = read + _places([(loop.extent, loop.read) for loop in loops])
        ends = write + _places([(loop.extent, loop.write) for loop in loops]) + 1
        later = np.minimum.accumulate(reads[::-1])[::-1]
        distance = max(0, int((ends[:-1] - later[1:]).max(initial=0)))
        return (useful(distance * ITEM_BYTES[x.dtype], output.size), *others)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Fill the result where it must be, and go through the axes."""
        read, write, loops = _loops(self.axes(op, graph))
        builder = KernelBuilder(op, graph)
        x = builder.input(0, "x")
        tables = [
            {side: _table(builder, f"{side}{at}", steps) for side, steps in sides.items()}
            for at, sides in enumerate({"read": loop.read, "write": loop.write} for loop in loops)
        ]
        value: Operand | Tensor | None = self.filling(op, graph)
        if isinstance(value, Tensor):
            filler = builder.input(op.inputs.index(value.name), "filler")
            value = builder.let("value", filler[0])
        y = builder.output()
        if value is not None:
            with builder.loop("i", 0, graph.results(op)[0].elements) as i:
                y[i] = value
        source: Expr = Const(read)
        target: Expr = Const(write)
        with ExitStack() as nest:
            for number, (loop, table) in enumerate(zip(loops, tables, strict=True)):
                if number:
                    source = builder.let("source", source)
                    target = builder.let("target", target)
                i = nest.enter_context(builder.loop(f"i{number}", 0, loop.extent))
                source = add(source, _step(i, loop.read, table["read"]))
                target = add(target, _step(i, loop.write, table["write"]))
            y[target] = x[source]
        return builder.lowered()


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the elements from one index of each dimension to the next."""
    steps = [1]
    for extent in reversed(shape[1:]):
        steps.append(steps[-1] * extent)
    return tuple(reversed(steps[: len(shape)]))


def in_order(reads: Sequence[Integers]) -> list[Axis]:
    """Return the axes of a result that is written in its order, from what each index reads."""
    steps = row_major([each.size for each in reads])
    return [
        Axis(each, np.arange(each.size) * step) for each, step in zip(reads, steps, strict=True)
    ]


def even(shape: Sequence[int]) -> list[Integers]:
    """Return the places in row-major order of each index of each dimension."""
    pairs = zip(shape, row_major(shape), strict=True)
    return [np.arange(extent, dtype=np.int64) * step for extent, step in pairs]


def _loops(axes: Sequence[Axis]) -> tuple[int, int, list[Loop]]:
    """Return where reading and writing begin, and as few loops as do the same.

    LLVM 22.1 vectorises loops wrongly that step backwards over several elements: what is read
    from its end is written from its end instead, where the innermost step is 1.
    """
    read = sum(int(axis.reads[0]) for axis in axes)
    write = sum(int(axis.writes[0]) for axis in axes)
    loops: list[Loop] = []
    for loop in (each for axis in axes for each in _nest_loops(axis.reads, axis.writes)):
        joined = loops[-1].around(loop) if loops else None
        loops[-1:] = [joined] if joined else [*loops[-1:], loop]
    ascending: list[Loop] = []
    for loop in loops:
        if isinstance(loop.read, int) and isinstance(loop.write, int) and loop.read < 0:
            read += (loop.extent - 1) * loop.read
            write += (loop.extent - 1) * loop.write
            loop = Loop(loop.extent, -loop.read, -loop.write)
        ascending.append(loop)
    return read, write, ascending


def _nest_loops(reads: Integers, writes: Integers) -> Iterator[Loop]:
    """Yield loops, outermost first, that go through the places of an axis."""
    if reads.size == 1:
        return
    both = np.stack([reads, writes])
    steps = np.diff(both)
    uneven = np.flatnonzero((steps != steps[:, :1]).any(axis=0))
    run = int(uneven[0]) + 1 if uneven.size else reads.size
    outer, inner = both[:, ::run], both[:, :run] - both[:, :1]
    again = (outer[:, :, np.newaxis] + inner[:, np.newaxis]).reshape(2, -1)
    if np.array_equal(again, both):
        yield from _nest_loops(*outer)
        yield Loop(run, int(steps[0, 0]), int(steps[1, 0]))
    else:
        yield Loop(reads.size, _steps(reads), _steps(writes))


def _steps(places: Integers) -> Steps:
    steps = np.diff(places)
    if (steps == steps[0]).all():
        return int(steps[0])
    return tuple((places - places[0]).tolist())


def _table(builder: KernelBuilder, name: str, steps: Steps) -> Buffer | None:
    """Make a constant of steps that are not even."""
    if isinstance(steps, int):
        return None
    narrow = max(map(abs, steps)) < 2**15
    return builder.table(name, np.array(steps), Type.I16 if narrow else Type.I32)


def _step(i: Expr, steps: Steps, table: Buffer | None) -> Expr:
    if table is not None:
        return table.wide(i)
    assert isinstance(steps, int)
    return multiply(i, steps)


def _places(steps: Sequence[tuple[int, Steps]]) -> Integers:
    """Return the sum of the steps at each index, in row-major order, flat."""
    places = np.zeros(1, np.int64)
    for extent, step in steps:
        added = np.arange(extent, dtype=np.int64) * step if isinstance(step, int) else step
        places = np.add.outer(places, added).reshape(-1)
    return places
