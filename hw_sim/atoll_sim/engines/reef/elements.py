# SPDX-License-Identifier: Apache-2.0
"""ADD and MUL on the reef accelerator: one command over all elements of two operands."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cached_property
from math import ceil
from struct import Struct
from typing import ClassVar

from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ops.elements.addition import add_factors
from atoll.ops.elements.elementwise import scale_factor
from atoll.ops.quantization import activation_range, quantize_multiplier, zero_point_of
from atoll.ops.rounding import rounds_once
from atoll.records import dataclass
from atoll_sim.engines.common import encode
from atoll_sim.engines.reef.cycles import start_cycles
from atoll_sim.engines.reef.family import Family
from atoll_sim.engines.reef.geometry import operand
from atoll_sim.engines.reef.places import Place, Port


class ElementOpcode(IntEnum):
    """What a command makes of two elements."""

    ADD = 4
    MUL = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementDescriptor(encode.Descriptor):
    """The fields of one command, as docs/reef.md lists them."""

    # Words 0; 1 to 5; 6 to 8; 9; 10; 11; 12 to 15.
    layout: ClassVar[Struct] = Struct("<BBH 5I 3i 3bB 3bB H2b 4I")
    first_address: int
    output_address: int
    second_address: int
    second_address_again: int
    elements: int
    first_multiplier: int
    second_multiplier: int
    result_multiplier: int
    first_shift: int
    second_shift: int
    result_shift: int
    reserved_9: int = 0
    first_zero_point: int
    second_zero_point: int
    output_zero_point: int
    reserved_10: int = 0
    flags: int = 0
    activation_min: int
    activation_max: int
    reserved_12: int = 0
    reserved_13: int = 0
    reserved_14: int = 0
    reserved_15: int = 0


TURN_STEPS = 8
"""Beats of an operand that are read in a row, where lanes are as wide as the port."""
_OPCODES = {"add": ElementOpcode.ADD, "mul": ElementOpcode.MUL}


class Elements(Family):
    """One command over all elements of two operands."""

    @classmethod
    def takes(cls, op: Operator, graph: Graph) -> bool:
        """Tell whether `op` is computed element by element."""
        return op.kind in _OPCODES

    def job(self, splits: int) -> Job:
        """Name the buffers; the output may lie over each operand."""
        (output,), reads = self.op.outputs, self.activations(self.op.inputs)
        overlaps = tuple(SafeOverlap(output, name, 0) for name in reads)
        return self.make_job(reads, tuple(self.constants(self.op.inputs)), overlaps)

    def encode(self, address: Callable[[str], int], splits: int) -> bytes:
        """Return the command."""
        op, graph = self.op, self.graph
        (output,) = graph.results(op)
        if op.kind == "add":
            first, second, result = map(quantize_multiplier, add_factors(op, graph))
        else:
            (factor,) = scale_factor(op, graph)
            first, second, result = (0, 0), (0, 0), quantize_multiplier(factor)
        low, high = activation_range(op, output)
        sources = [address(self.source(position)) for position in (0, 1)]
        return ElementDescriptor(
            opcode=_OPCODES[op.kind],
            first_address=sources[0],
            second_address=sources[1],
            second_address_again=sources[1],
            output_address=address(output.name),
            elements=output.elements,
            first_multiplier=first[0],
            second_multiplier=second[0],
            result_multiplier=result[0],
            first_shift=first[1],
            second_shift=second[1],
            result_shift=result[1],
            first_zero_point=zero_point_of(operand(op, graph, 0)),
            second_zero_point=zero_point_of(operand(op, graph, 1)),
            output_zero_point=zero_point_of(output),
            flags=int(rounds_once(op)),
            activation_min=low,
            activation_max=high,
        ).encode()

    def busy(self, port: Port, commands: int) -> Busy:
        """Predict with what an instance is busy.

        Each operand takes a step for as many elements as there are lanes. A memory that is known
        moves one beat at a time, of three; otherwise it is taken to write while it reads.
        """
        tensors, size = self._tensors, port.size
        count = tensors[-1].elements
        beats = -(-count // size)
        places = [port.place(each) for each in tensors]
        *sources, target = places
        parts = {
            Bound.COMPUTE: ceil(2 * count / self.npu.params["input_lanes"]),
            Bound.READ: ceil(beats * sum(each.reading(size) for each in sources)),
            Bound.WRITE: ceil(beats * target.writing(size) + _change_cycles(beats, places)),
        }
        moving = sum if port.takes_turns else max
        busy = max(parts[Bound.COMPUTE], moving((parts[Bound.READ], parts[Bound.WRITE])))
        return Busy(cycles=start_cycles(port) + busy, parts=parts)

    @cached_property
    def _tensors(self) -> tuple[Tensor, ...]:
        return self.tensors((*self.op.inputs, *self.op.outputs))


def _change_cycles(beats: int, places: Sequence[Place]) -> int:
    """Return the cycles of changes between memories.

    A result is written to the memory of an operand while that is read; to another one each beat
    by itself. The two operands are read by turns.
    """
    first, second, target = places
    between = target.changing(first), target.changing(second)
    if all(between):
        return beats * max(between)
    return -(-beats // TURN_STEPS) * first.changing(second)
