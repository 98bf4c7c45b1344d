# SPDX-License-Identifier: Apache-2.0
"""An accelerator of our own: what makes its commands, and its bit-exact model."""

import struct
from collections.abc import Callable, Mapping
from math import prod

from atoll.extend import Engine, Graph, Job, Operator
from atoll_sim.extend import Bus, BusFault, Outcome, with_check

COMMAND_BYTES = 64
COMMAND = struct.Struct("<4I 2H 2I 36s")
COPY, VERSION = 1, 1
READ_DECODE, WRITE_DECODE, BAD_OPCODE, BAD_CHECK = 2, 4, 5, 9


class TernEmitter:
    """Joins tensors with one command for each input: rows that lie apart in the result."""

    def prepare(self, op: Operator, graph: Graph, npu: Engine, splits: int = 1) -> Job:
        """Name what the commands touch; tern has no constants of its own."""
        return Job(
            operator=op.name,
            device=npu.name,
            reads=tuple(dict.fromkeys(name for name in op.inputs if name)),
            writes=op.outputs,
            constants=(),
            commands=f"{op.name}_commands",
            commands_size=COMMAND_BYTES * len(op.inputs),
            commands_count=len(op.inputs),
        )

    def encode(
        self,
        op: Operator,
        graph: Graph,
        npu: Engine,
        address: Callable[[str], int],
        splits: int = 1,
    ) -> bytes:
        """Return one command for each input, with the addresses that memory planning chose."""
        target = address(op.outputs[0])
        rows, pitch = _rows(op, graph, op.outputs[0])
        commands = []
        for name in op.inputs:
            _, size = _rows(op, graph, name)
            word = COPY | VERSION << 8
            fields = (word, address(name), target, size, rows, 0, size, pitch, b"")
            commands.append(with_check(COMMAND.pack(*fields)))
            target += size
        return b"".join(commands)

    def identity(self, npu: Engine) -> Mapping[str, int]:
        """Return what ID and PARAMS hold; the driver refuses hardware that differs."""
        return {"ID": 0x4C50_4952, "PARAMS": npu.params["data_bytes"] << 16 | 2 << 24}

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine, commands: int = 0) -> int:
        """Predict busy cycles: each row begins anew, each beat is answered before the next."""
        rows, _ = _rows(op, graph, op.outputs[0])
        sizes = [_rows(op, graph, name)[1] for name in op.inputs]
        beats = sum(-(-size // npu.params["data_bytes"]) for size in sizes)
        return 40 * len(sizes) + rows * (8 * len(sizes) + 4 * beats)

    def sealed(self, command: bytes) -> bytes:
        """Make the check of a command anew; planted faults then meet the values behind it."""
        return with_check(command)


def _rows(op: Operator, graph: Graph, name: str) -> tuple[int, int]:
    """Return how many rows of a tensor lie apart in the result, and their bytes."""
    shape, axis = graph.tensor(name).shape, op.integer("axis")
    return prod(shape[:axis]), prod(shape[axis:])


class TernModel:
    """Runs the commands that the firmware runs, from the bytes in memory."""

    def __init__(self, npu: Engine) -> None:
        """Take the data width from the instance's parameters."""
        self._beat = npu.params["data_bytes"]

    def run(self, bus: Bus, list_address: int, count: int) -> Outcome:
        """Execute a list up to its end or the first error."""
        for done in range(count):
            at = list_address + done * COMMAND_BYTES
            error, address = self._execute(bus, at)
            if error:
                return Outcome(error, address, done)
        return Outcome(0, 0, count)

    def _execute(self, bus: Bus, at: int) -> tuple[int, int]:
        error = READ_DECODE
        try:
            data = bus.read(at, COMMAND_BYTES)
            word, source, target, size, rows, _, source_pitch, pitch, _ = COMMAND.unpack(data)
            if word & 0xFFFF != COPY | VERSION << 8:
                return BAD_OPCODE, at
            if with_check(data[:2] + b"\0\0" + data[4:]) != data:
                return BAD_CHECK, at
            for row in range(rows):
                error = READ_DECODE
                values = bus.read(source + row * source_pitch, size)
                error = WRITE_DECODE
                bus.write(target + row * pitch, values)
        except BusFault as fault:
            return error, fault.address - fault.address % self._beat
        return 0, 0
