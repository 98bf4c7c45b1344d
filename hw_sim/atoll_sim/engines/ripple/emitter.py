# SPDX-License-Identifier: Apache-2.0
"""Commands for the ripple DMA engine: a copy is one row, a change of layout planes of rows."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import ceil

from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.layout_moves import Rows, fillings, moves
from atoll.ir.layouts import Layout
from atoll.resolve.soc import Engine, PoolMemory
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, with_check
from atoll_sim.engines.common.transfers import beat_cycles, crossing_cycles
from atoll_sim.engines.ripple.descriptor import Descriptor

_LETTERS = int.from_bytes(b"RIPL", "little")
CONTRACT_VERSION = 2
_FILLING_BYTES = 64
_START_CYCLES = 40
_COMMAND_CYCLES = 30
_WAIT_CYCLES = 2
"""From the request of a beat until another memory can be asked, without its words."""
_QUEUE_BEATS = 32
_UNDER_WAY, _RETURN_CYCLES = 8, 3
"""Beats that the bus has under way for the port, and what each takes besides its memory's wait."""
_ROWS_A_CYCLE = 2


class RippleEmitter:
    """The `CommandEmitter` of ripple."""

    basis = "measured"
    """What its cycles rest on."""

    band = (0.17, 0.17)
    """How far copies are off at most in tests/e2e/test_estimates.py."""

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Name the two tensors, and what fills a layout up; count the commands."""
        commands = len(_commands(op, graph))
        return Job(
            operator=op.name,
            device=npu.name,
            reads=op.inputs[:1],
            writes=op.outputs,
            constants=tuple(_fill_constants(op, graph)),
            commands=f"{op.name}_commands",
            commands_size=DESCRIPTOR_BYTES * commands,
            commands_count=commands,
        )

    def encode(
        self,
        op: Operator,
        graph: Graph,
        npu: Engine,
        address: Callable[[str], int],
        splits: int = 1,
    ) -> bytes:
        """Return the descriptors: of a change of layout, first those that fill it up."""
        filling = next(_fill_constants(op, graph), None)
        places = {_FILLS: address(filling.name)} if filling else {}
        places |= {_READS: address(op.inputs[0]), _WRITES: address(op.outputs[0])}
        return b"".join(
            Descriptor(
                source=places[name] + source,
                destination=places[_WRITES] + target,
                row_bytes=rows.run,
                rows=rows.rows,
                more_planes=rows.planes - 1,
                source_pitch=rows.row[0],
                destination_pitch=rows.row[1],
                source_plane=rows.plane[0],
                destination_plane=rows.plane[1],
            ).encode()
            for name, source, target, rows in _commands(op, graph)
        )

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return the registers that describe an instance (docs/ripple.md)."""
        return {"ID": _LETTERS, "PARAMS": npu.params["data_bytes"] << 16 | CONTRACT_VERSION << 24}

    def sealed(self, command: bytes) -> bytes:
        """Make the CRC of a command anew."""
        return with_check(command)

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> int:
        """Predict busy cycles, see `busy`."""
        return self.busy(op, graph, npu, commands).cycles

    def busy(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> Busy:
        """Predict with what it is busy: the port reads as many beats as it queues, then writes."""
        width, cycles = npu.params["data_bytes"], _START_CYCLES
        turn, beat = _turn_cycles(op, graph, npu)
        listed = _commands(op, graph)
        for _, _, target, rows in listed:
            count = rows.rows * rows.planes
            beats = -(-(target % width + rows.run) // width) * count
            turns = -(-beats // _QUEUE_BEATS) if npu.params["turns"] else beats
            cycles += ceil(turns * turn + beats * beat) + count // _ROWS_A_CYCLE
        cycles += _COMMAND_CYCLES * (len(listed) - 1)
        return Busy(cycles=cycles, parts={Bound.WRITE: cycles})


def _turn_cycles(op: Operator, graph: Graph, npu: Engine) -> tuple[float, float]:
    """Return the cycles of a turn beside its beats, and those of a beat."""
    width, wait = npu.params["data_bytes"], _WAIT_CYCLES
    source, (target,) = graph.tensor(op.inputs[0]), graph.results(op)
    near = PoolMemory(memory="", width=Fraction(width), latency=0)
    places = [npu.pool_memories.get(each.pool, near) for each in (source, target)]
    read, written = (each.width for each in places)
    crossing = crossing_cycles(npu.bus_cycles)
    wait = max(wait, *(each.latency + 1 for each in places))
    if source.data is not None:
        wait, read = max(wait, npu.constants_wait), npu.constants_width or near.width
    words = [float(beat_cycles(width, each, npu.bus_cycles)) for each in (read, written)]
    if not npu.params["turns"]:
        return wait, sum(words)
    return wait + sum(words), max(
        words[0], (wait + _RETURN_CYCLES + crossing) / _UNDER_WAY
    ) + words[1]


_READS, _WRITES, _FILLS = "reads", "writes", "fills"
_Command = tuple[str, int, int, Rows]
"""What is read, the first bytes on both sides, and rows from source to destination in bytes."""


def _commands(op: Operator, graph: Graph) -> tuple[_Command, ...]:
    source, (target,) = graph.tensor(op.inputs[0]), graph.results(op)
    if source.layout == target.layout:
        return ((_READS, 0, 0, Rows(plain=0, laid=0, run=target.size)),)
    item = ITEM_BYTES[target.dtype]
    if target.layout is None:
        assert source.layout is not None
        return tuple(_move_commands(source.layout, item, back=True))
    fills = fillings(target.layout)
    return (
        *_fills(fills.start * item, len(fills) * item),
        *_move_commands(target.layout, item, back=False),
    )


def _move_commands(layout: Layout, item: int, *, back: bool) -> Iterator[_Command]:
    """Yield the commands that move the elements of a layout, of `item` bytes each."""
    for rows in moves(layout):
        pairs = (rows.row, rows.plane, (rows.plain, rows.laid))
        row, plane, (source, target) = (
            (pair[back] * item, pair[not back] * item) for pair in pairs
        )
        yield (
            _READS,
            source,
            target,
            Rows(
                plain=0,
                laid=0,
                run=rows.run * item,
                rows=rows.rows,
                row=row,
                planes=rows.planes,
                plane=plane,
            ),
        )


def _fills(begin: int, size: int) -> Iterator[_Command]:
    """Yield the commands that repeat a filling."""
    rows, rest = divmod(size, _FILLING_BYTES)
    if rows:
        pitch = (0, _FILLING_BYTES)
        yield _FILLS, 0, begin, Rows(plain=0, laid=0, run=_FILLING_BYTES, rows=rows, row=pitch)
    if rest:
        yield _FILLS, 0, begin + size - rest, Rows(plain=0, laid=0, run=rest)


def _fill_constants(op: Operator, graph: Graph) -> Iterator[Tensor]:
    """Yield the constant that fills a layout up, if that has fillings."""
    (target,) = graph.results(op)
    if target.layout and fillings(target.layout):
        item = ITEM_BYTES[target.dtype]
        data = target.layout.fill.to_bytes(item, "little", signed=True) * (_FILLING_BYTES // item)
        yield Tensor(name=f"{op.name}_filling", shape=(_FILLING_BYTES,), dtype="int8", data=data)
