# SPDX-License-Identifier: Apache-2.0
"""Operators on the reef accelerator that move bytes, and those that a table maps one by one."""

from collections.abc import Callable, Iterator
from functools import cached_property
from math import ceil, gcd, prod
from struct import Struct
from typing import ClassVar, NamedTuple

import numpy as np

from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ops.quantization import zero_point_of
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll_sim.engines.common import encode
from atoll_sim.engines.reef.cycles import NEXT_CYCLES, START_CYCLES
from atoll_sim.engines.reef.family import Family
from atoll_sim.engines.reef.geometry import operand
from atoll_sim.engines.reef.places import Port
from atoll_sim.engines.reef.runs import average, beginnings

MOVE = 7
MAPPED, FILLED = 1, 2
TABLE_BYTES = 256
_DIMENSIONS, _MOST = 3, 0xFFFF
_SCATTERED = ("concatenation", "pad")
_MOVES = (*_SCATTERED, "reshape")
_VALUES = np.arange(TABLE_BYTES, dtype=np.uint8).view(np.int8)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveDescriptor(encode.Descriptor):
    """The fields of one command, as docs/reef.md lists them."""

    # Words 0; 1 to 5; 6 and 7; 8 to 13; 14 and 15.
    layout: ClassVar[Struct] = Struct("<BBH 5I 3H2B 6I 2I")
    opcode: int = MOVE
    source_address: int
    output_address: int
    table_address: int
    table_address_again: int
    row_bytes: int
    rows: int = 1
    planes: int = 1
    spaces: int = 1
    flags: int = 0
    value: int = 0
    source_step: int = 0
    source_plane_step: int = 0
    source_space_step: int = 0
    output_step: int = 0
    output_plane_step: int = 0
    output_space_step: int = 0
    reserved_14: int = 0
    reserved_15: int = 0


class Axis(NamedTuple):
    """So many rows, or planes of them, and the bytes from one to the next."""

    extent: int
    source: int
    output: int


class Move(NamedTuple):
    """Rows of one buffer that go to another.

    Attributes:
        position: of the operand that is read, None where a value fills.
        source: bytes before the first row.
        output: likewise.
        row: bytes of each row.
        axes: of the rows, from the innermost on.
    """

    position: int | None
    source: int
    output: int
    row: int
    axes: tuple[Axis, ...] = ()

    @property
    def rows(self) -> int:
        """How many there are."""
        return prod(axis.extent for axis in self.axes)

    def commands(self) -> Iterator["Move"]:
        """Yield moves of at most so many axes and rows as a command can have."""
        outer = self.axes[-1] if self.axes else Axis(1, 0, 0)
        if len(self.axes) <= _DIMENSIONS and all(axis.extent <= _MOST for axis in self.axes):
            yield self
            return
        if len(self.axes) <= _DIMENSIONS and outer.extent <= _MOST:
            at = next(at for at, axis in enumerate(self.axes) if axis.extent > _MOST)
            axes = (*self.axes[:at], *self.axes[at + 1 :], self.axes[at])
            yield from self._replace(axes=axes).commands()
            return
        size = _MOST if len(self.axes) <= _DIMENSIONS else 1
        for first in range(0, outer.extent, size):
            part = outer._replace(extent=min(size, outer.extent - first))
            axes = (*self.axes[:-1], part) if size > 1 else self.axes[:-1]
            yield from self._replace(
                source=self.source + first * outer.source,
                output=self.output + first * outer.output,
                axes=axes,
            ).commands()


class Moves(Family):
    """Commands that move rows, or map their bytes by a table."""

    @classmethod
    def takes(cls, op: Operator, graph: Graph) -> bool:
        """Tell whether bytes of `op` move, or are mapped one by one: its kind counts `elements`."""
        return op.kind in _MOVES or (
            len(op.inputs) == 1 and "elements" in kind_of(op).features(op, graph)
        )

    def job(self, splits: int) -> Job:
        """Name the buffers, and make the table."""
        (output,), reads = self.op.outputs, self.activations(self._moved)
        in_order = self.op.kind not in _SCATTERED
        return self.make_job(
            reads,
            (*self.constants(self._moved), *self._tables()),
            tuple(SafeOverlap(output, name, 0) for name in reads if in_order),
            count=sum(1 for _ in self._commands()),
        )

    def encode(self, address: Callable[[str], int], splits: int) -> bytes:
        """Return the commands."""
        op, fill = self.op, 0
        if op.kind == "pad":
            fill = zero_point_of(self.graph.results(op)[0]) & 0xFF
        made = []
        for move in self._commands():
            filled = move.position is None
            source = output = address(op.outputs[0]) + move.output
            if move.position is not None:
                source = address(self.source(move.position)) + move.source
            table = address(self.table) if self._mapped else source
            descriptor = MoveDescriptor(
                source_address=source,
                output_address=output,
                table_address=table,
                table_address_again=table,
                row_bytes=move.row,
                flags=FILLED * filled | MAPPED * self._mapped,
                value=fill if filled else 0,
                **_fields(move.axes),
            )
            made.append(descriptor.encode())
        return b"".join(made)

    def busy(self, port: Port, commands: int) -> Busy:
        """Predict with what an instance is busy.

        A memory that is known moves one beat at a time, of two; otherwise it is taken to write
        while it reads.
        """
        size, tensor = port.size, self.graph.tensor
        target = port.place(tensor(self.op.outputs[0]))
        parts = {Bound.COMPUTE: 0, Bound.READ: 0, Bound.WRITE: 0}
        cycles = START_CYCLES + (len(self._work) - 1) * NEXT_CYCLES
        if self._mapped:
            cycles += TABLE_BYTES // size + port.npu.constants_wait
        for position, computing, to, of in self._work:
            writing, reading = ceil(to * target.writing(size)), 0
            if position is not None:
                source = port.place(tensor(self.op.inputs[position]))
                reading = ceil(of * source.reading(size))
                writing += to * source.changing(target)
            moving = reading + writing if port.takes_turns else max(reading, writing)
            cycles += max(computing, moving)
            for bound, value in zip(parts, (computing, reading, writing), strict=True):
                parts[bound] += value
        return Busy(cycles=cycles, parts=parts)

    @cached_property
    def _work(self) -> list[tuple[int | None, int, int, int]]:
        """Of each command, the operand that moves, its steps, and beats written and read."""
        width, size = self.npu.params["input_lanes"] // 2, self.npu.params["data_bytes"]
        found = []
        for move in self._commands():
            to = _beats(move.row, move.output, (axis.output for axis in move.axes), size)
            of = _beats(move.row, move.source, (axis.source for axis in move.axes), size)
            beats = ceil(move.rows * to), ceil(move.rows * of)
            found.append((move.position, move.rows * -(-move.row // width), *beats))
        return found

    @property
    def _mapped(self) -> bool:
        """Tell whether an element of the result depends on its place's input by a table."""
        return self.op.kind not in _MOVES

    @property
    def _moved(self) -> tuple[str, ...]:
        """Return the operands whose bytes move."""
        return self.op.inputs if self.op.kind == "concatenation" else self.op.inputs[:1]

    def _tables(self) -> Iterator[Tensor]:
        if self._mapped:
            (results,) = kind_of(self.op).reference(self.op, self.graph, (_VALUES,))
            table = results.astype(np.int8).tobytes()
            yield Tensor(name=self.table, shape=(TABLE_BYTES,), dtype="int8", data=table)

    def _commands(self) -> Iterator[Move]:
        for move in _moves(self.op, self.graph):
            yield from move.commands()


def _beats(row: int, start: int, pitches: Iterator[int], port: int) -> float:
    """Return the beats of a row, on average over where the rows begin."""
    return average(row, beginnings(gcd(port, *pitches), port, start), port).beats


def _fields(axes: tuple[Axis, ...]) -> dict[str, int]:
    """Return counts, and the steps from the last row of each extent to the next one's first."""
    whole = (*axes, *(Axis(1, 0, 0) for _ in range(_DIMENSIONS - len(axes))))
    fields = dict(zip(("rows", "planes", "spaces"), (axis.extent for axis in whole), strict=True))
    back = Axis(0, 0, 0)
    for name, axis in zip(("", "_plane", "_space"), whole, strict=True):
        for side, pitch, behind in (
            ("source", axis.source, back.source),
            ("output", axis.output, back.output),
        ):
            step = pitch - behind if axis.extent > 1 else 0
            fields[f"{side}{name}_step"] = step & 0xFFFF_FFFF
        more = axis.extent - 1
        back = Axis(0, back.source + more * axis.source, back.output + more * axis.output)
    return fields


def _moves(op: Operator, graph: Graph) -> Iterator[Move]:
    (output,) = graph.results(op)
    if op.kind == "pad":
        yield Move(None, 0, 0, output.elements)
        yield _inside(operand(op, graph, 0), output, operand(op, graph, 1))
    elif op.kind == "concatenation":
        axis, before = op.integer("axis") % len(output.shape), 0
        pitch, outer = prod(output.shape[axis:]), prod(output.shape[:axis])
        for position in range(len(op.inputs)):
            row = prod(operand(op, graph, position).shape[axis:])
            yield Move(position, 0, before, row, (Axis(outer, row, pitch),) if outer > 1 else ())
            before += row
    else:
        yield Move(0, 0, 0, output.elements)


def _inside(source: Tensor, output: Tensor, paddings: Tensor) -> Move:
    """Return how a tensor moves into the padded one; dimensions without padding are one row."""
    before = paddings.array.astype(np.int64).reshape(-1, 2)[:, 0].tolist()
    padded = [at for at, size in enumerate(source.shape) if size != output.shape[at]]
    inner = max(padded, default=0)
    pitches = [
        (prod(source.shape[at + 1 :]), prod(output.shape[at + 1 :]))
        for at in range(len(source.shape))
    ]
    axes = tuple(Axis(source.shape[at], *pitches[at]) for at in reversed(range(inner)))
    start = sum(count * pitches[at][1] for at, count in enumerate(before))
    wide = tuple(axis for axis in axes if axis.extent > 1)
    return Move(0, 0, start, prod(source.shape[inner:]), wide)
