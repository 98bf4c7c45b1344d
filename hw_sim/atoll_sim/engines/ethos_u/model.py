# SPDX-License-Identifier: Apache-2.0
"""The border of an Ethos-U: it reads and writes what the NPU would, and computes by reference.

What the NPU does between its inputs and outputs is Vela's and Arm's; here the operators that Vela
compiled compute it, with Atoll's exact references. Checked is what lies at the border: that block,
payload and constants are the ones that were planned, for an NPU as the chip has it. Inputs are
read, and outputs written, byte by byte where the commands say, from the addresses in the block.
"""

from collections.abc import Sequence

import numpy as np

from atoll.ir.graph import Graph, Operator
from atoll.npu_stream.reader import Operation, StreamError, operations
from atoll.npu_stream.spans import Spans, join_spans
from atoll.ops.ethos_u import FIRST_INPUT, STREAM, WEIGHTS
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.resolve.soc import Engine
from atoll.vela.payload import read_first
from atoll_sim.engines.ethos_u.block import BLOCK_BYTES, Block, decode, is_whole
from atoll_sim.engines.interface import Bus, BusFault, Outcome

READ_SLAVE, READ_DECODE, WRITE_SLAVE, WRITE_DECODE = 1, 2, 3, 4
BAD_OPCODE, BAD_FIELD, BAD_CHECK = 5, 6, 9
"""Errors as the C driver of command lists names them."""

_INPUTS_FROM = 2


@dataclass(frozen=True, slots=True)
class _Known:
    """An operator that a list starts, and the graph that holds it."""

    operator: Operator
    graph: Graph


class EthosUModel:
    """Plays an Ethos-U up to its border; see `learn`."""

    def __init__(self, npu: Engine) -> None:
        self._macs = npu.params["macs"]
        self._known: dict[int, _Known] = {}

    def learn(self, list_address: int, op: Operator, graph: Graph) -> None:
        """Say what the list at an address, as the NPU sees it, is to compute."""
        self._known[list_address] = _Known(op, graph)

    def run(self, bus: Bus, list_address: int, count: int) -> Outcome:
        """Run blocks one after the other, up to the first error."""
        for done in range(count):
            try:
                error = self._block(bus, list_address + done * BLOCK_BYTES)
            except _AccessError as fault:
                return Outcome(fault.error, fault.address, done)
            if error:
                return Outcome(error, list_address + done * BLOCK_BYTES, done)
        return Outcome(0, 0, count)

    def _block(self, bus: Bus, address: int) -> int:
        words, known = _read(bus, address, BLOCK_BYTES), self._known.get(address)
        block = decode(words)
        if block is None or known is None:
            return BAD_OPCODE
        op, graph = known.operator, known.graph
        edges = (*op.inputs[FIRST_INPUT:], *op.outputs[:-1])
        names = (op.inputs[WEIGHTS], op.outputs[-1], *edges)
        if [size for _, size in block.regions] != [graph.tensor(n).size for n in names]:
            return BAD_FIELD
        found = _read(bus, *block.payload)
        payload = read_first(found)
        if payload is None or payload.macs != self._macs:
            return BAD_FIELD
        planned = (graph.tensor(op.inputs[place]).data for place in (STREAM, WEIGHTS))
        whole = is_whole(words, found)
        if not whole or (found, _read(bus, *block.regions[0])) != (*planned,):
            return BAD_CHECK
        try:
            steps = operations(payload.stream, payload.product)
        except StreamError:
            return BAD_OPCODE
        _compute(bus, block, steps, op, graph)
        return 0


def _compute(
    bus: Bus, block: Block, steps: Sequence[Operation], op: Operator, graph: Graph
) -> None:
    """Read the inputs and write the outputs as the commands do, the scratch last."""
    regions = dict(enumerate(op.inputs[FIRST_INPUT:], _INPUTS_FROM))
    inputs = {
        name: _array(_gather(bus, block, number, steps), graph, name)
        for number, name in regions.items()
    }
    results = kind_of(op).reference(op, graph, [inputs.get(name) for name in op.inputs])
    for number, values in enumerate(results[:-1], _INPUTS_FROM + len(regions)):
        data, (address, _) = values.tobytes(), block.regions[number]
        for begin, end in _touched_bytes(steps, number, writes=True):
            _write(bus, address + begin, data[begin:end].ljust(end - begin, b"\0"))
    _write(bus, block.regions[1][0], results[-1].tobytes())


def _gather(bus: Bus, block: Block, number: int, steps: Sequence[Operation]) -> bytes:
    """Return the bytes of an input: those that no command reads are 0."""
    address, size = block.regions[number]
    data = bytearray(size)
    for begin, end in _touched_bytes(steps, number, writes=False):
        data[begin:end] = _read(bus, address + begin, end - begin)
    return bytes(data[:size])


def _touched_bytes(steps: Sequence[Operation], number: int, *, writes: bool) -> Spans:
    """Return the bytes of a region that commands read, or write."""
    every = (access for step in steps for access in step.accesses)
    return join_spans([a.spans for a in every if (a.region, a.writes) == (number, writes)])


def _array(data: bytes, graph: Graph, name: str) -> np.ndarray[tuple[int, ...], np.dtype]:
    tensor = graph.tensor(name)
    return np.frombuffer(data, dtype=tensor.dtype).reshape(tensor.shape)


class _AccessError(Exception):
    """An access that failed, as the registers say it."""

    def __init__(self, error: int, address: int) -> None:
        super().__init__(f"error {error} at {address:#010x}")
        self.error = error
        self.address = address


def _read(bus: Bus, address: int, size: int) -> bytes:
    try:
        return bus.read(address, size)
    except BusFault as fault:
        error = READ_DECODE if fault.decode else READ_SLAVE
        raise _AccessError(error, fault.address) from fault


def _write(bus: Bus, address: int, data: bytes) -> None:
    try:
        bus.write(address, data)
    except BusFault as fault:
        error = WRITE_DECODE if fault.decode else WRITE_SLAVE
        raise _AccessError(error, fault.address) from fault
