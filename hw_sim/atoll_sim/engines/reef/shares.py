# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX on the reef accelerator: one command for all rows, and a table of exponentials."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from struct import Struct
from typing import ClassVar

import numpy as np

from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ops.reductions.softmax import exponentials, scaling_of
from atoll.resolve.soc import Engine
from atoll_sim.engines.common import encode
from atoll_sim.engines.reef.cycles import start_cycles
from atoll_sim.engines.reef.geometry import operand
from atoll_sim.engines.reef.loads import reading
from atoll_sim.engines.reef.places import narrower
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


def takes(op: Operator) -> bool:
    """Tell whether results of `op` are shares of rows."""
    return op.kind == "softmax"


def job_of(op: Operator, graph: Graph, npu: Engine) -> Job:
    """Name the buffers of `op`, and make its table."""
    table = exponentials(*scaling_of(op, operand(op, graph, 0))).astype(np.int32)
    constant = Tensor(name=_table(op), shape=table.shape, dtype="int32", data=table.tobytes())
    return Job(
        operator=op.name,
        device=npu.name,
        reads=op.inputs,
        writes=op.outputs,
        constants=(constant,),
        commands=f"{op.name}_commands",
        commands_size=encode.DESCRIPTOR_BYTES,
        overlaps=(SafeOverlap(op.outputs[0], op.inputs[0], 0),),
    )


def command_of(op: Operator, graph: Graph, address: Callable[[str], int]) -> bytes:
    """Return the command."""
    x, table = operand(op, graph, 0), address(_table(op))
    return ShareDescriptor(
        source_address=address(op.inputs[0]),
        output_address=address(op.outputs[0]),
        table_address=table,
        table_address_again=table,
        values=x.shape[-1],
        rows=x.elements // x.shape[-1],
    ).encode()


def busy_of(op: Operator, graph: Graph, npu: Engine) -> Busy:
    """Predict with what an instance is busy: a value takes a cycle each of three times."""
    x, port = operand(op, graph, 0), npu.params["data_bytes"]
    values, rows = x.shape[-1], x.elements // x.shape[-1]
    loading = reading(TABLE_BYTES, narrower(npu.constants_width, npu), npu)
    computing = PASSES * x.elements + ROW_CYCLES * rows
    places = beginnings(values if rows > 1 else port, port)
    read = PASSES * ceil(rows * average(values, places, port).beats)
    return Busy(
        cycles=start_cycles(npu) - SOONER_CYCLES + loading + computing,
        parts={
            Bound.COMPUTE: computing,
            Bound.READ: read,
            Bound.WRITE: -(-x.elements // port),
            Bound.WEIGHTS: loading,
        },
        reads={op.inputs[0]: read * port, _table(op): TABLE_BYTES},
    )


def _table(op: Operator) -> str:
    return f"{op.name}_table"
