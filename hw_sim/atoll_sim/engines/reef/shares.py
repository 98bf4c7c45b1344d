# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX on the reef accelerator: one command for all rows, and a table of exponentials."""

from collections.abc import Callable
from functools import cached_property
from math import ceil
from struct import Struct
from typing import ClassVar

import numpy as np

from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ops.reductions.softmax import exponentials, scaling_of
from atoll.records import dataclass
from atoll_sim.engines.common import encode
from atoll_sim.engines.reef.cycles import start_cycles
from atoll_sim.engines.reef.family import Family
from atoll_sim.engines.reef.geometry import operand
from atoll_sim.engines.reef.places import Port
from atoll_sim.engines.reef.runs import average, beginnings

SOFTMAX = 8
TABLE_BYTES = 1024
PASSES = 3
ROW_CYCLES = 40
"""Of a row beside its values: for the inverse of its sum, and until each pass is done."""
SOONER_CYCLES = 20
"""By which the end of a command is seen sooner than that of the array's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareDescriptor(encode.Descriptor):
    """The fields of one command, as docs/reef.md lists them."""

    # Words 0; 1 to 6; 7 to 15.
    layout: ClassVar[Struct] = Struct("<BBH 5I 2H 9I")
    opcode: int = SOFTMAX
    source_address: int
    output_address: int
    table_address: int
    table_address_again: int
    values: int
    rows: int
    reserved_6: int = 0
    reserved_7: int = 0
    reserved_8: int = 0
    reserved_9: int = 0
    reserved_10: int = 0
    reserved_11: int = 0
    reserved_12: int = 0
    reserved_13: int = 0
    reserved_14: int = 0
    reserved_15: int = 0


class Shares(Family):
    """One command for all rows."""

    @classmethod
    def takes(cls, op: Operator, graph: Graph) -> bool:
        """Tell whether results of `op` are shares of rows."""
        return op.kind == "softmax"

    def job(self, splits: int) -> Job:
        """Name the buffers, and make the table."""
        x = operand(self.op, self.graph, 0)
        values = exponentials(*scaling_of(self.op, x)).astype(np.int32)
        shape = values.shape
        table = Tensor(name=self.table, shape=shape, dtype="int32", data=values.tobytes())
        overlap = SafeOverlap(self.op.outputs[0], self.op.inputs[0], 0)
        return self.make_job(self.op.inputs, (table,), (overlap,))

    def encode(self, address: Callable[[str], int], splits: int) -> bytes:
        """Return the command."""
        x, table = operand(self.op, self.graph, 0), address(self.table)
        return ShareDescriptor(
            source_address=address(self.op.inputs[0]),
            output_address=address(self.op.outputs[0]),
            table_address=table,
            table_address_again=table,
            values=x.shape[-1],
            rows=x.elements // x.shape[-1],
        ).encode()

    def busy(self, port: Port, commands: int) -> Busy:
        """Predict with what an instance is busy: a value takes a cycle each of three times."""
        loading, (computing, read, written) = port.read_cycles(TABLE_BYTES), self._work
        return Busy(
            cycles=start_cycles(port) - SOONER_CYCLES + loading + computing,
            parts={
                Bound.COMPUTE: computing,
                Bound.READ: read,
                Bound.WRITE: written,
                Bound.WEIGHTS: loading,
            },
            reads={self.op.inputs[0]: read * port.size, self.table: TABLE_BYTES},
        )

    @cached_property
    def _work(self) -> tuple[int, int, int]:
        """Cycles of computing, beats that are read, and beats that are written."""
        x, size = operand(self.op, self.graph, 0), self.npu.params["data_bytes"]
        values, rows = x.shape[-1], x.elements // x.shape[-1]
        places = beginnings(values if rows > 1 else size, size)
        read = PASSES * ceil(rows * average(values, places, size).beats)
        return PASSES * x.elements + ROW_CYCLES * rows, read, -(-x.elements // size)
