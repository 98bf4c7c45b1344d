# SPDX-License-Identifier: Apache-2.0
"""Which bytes of which memory an operator moves, and how long that keeps the memory's port busy."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from atoll.cost.basis import MEASURED, basis_of, basis_of_operator, joint_basis
from atoll.cost.copies import speed_of
from atoll.cost.counted import cached_fetches, core_to_count, counted_instructions
from atoll.cost.data.picorv32 import FETCH_BYTES, KERNEL_CYCLES
from atoll.cost.data_lines import OperatorLines
from atoll.cost.kernel_runs import runs_of
from atoll.cost.spent import Spent
from atoll.ir.busy import Busy
from atoll.ir.graph import ITEM_BYTES, Graph, Operator
from atoll.ir.job import Job
from atoll.ir.tir import EngineAction, Step
from atoll.isa.instruction_set import Vectors
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Bytes of one memory.

    Attributes:
        read: instructions included.
        written: bytes.
        cycles: of the host, that the memory's port needs for both.
        basis: what instructions that are read rest on, and lines of data caches.
    """

    memory: str
    read: int
    written: int
    cycles: int
    basis: str = MEASURED

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "memory": self.memory,
            "read_bytes": self.read,
            "written_bytes": self.written,
            "cycles": self.cycles,
            "basis": self.basis,
        }


class Program(Protocol):
    """A placed and planned network, as a `ProgramCost` describes it."""

    @property
    def soc(self) -> ResolvedSoc: ...  # noqa: D102
    @property
    def graph(self) -> Graph: ...  # noqa: D102
    @property
    def sizes(self) -> Mapping[str, int]: ...  # noqa: D102
    @property
    def jobs(self) -> Mapping[str, Job]: ...  # noqa: D102
    @property
    def copies(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def pools(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def spent(self) -> Mapping[str, Spent]: ...  # noqa: D102
    @property
    def lines(self) -> Mapping[str, OperatorLines]: ...  # noqa: D102


def traffic_of(cost: Program, step: Step, op: Operator, *, goes_on: bool) -> tuple[Traffic, ...]:
    """Return what an operator moves, by memory; those that it does not touch are left out.

    Activations and constants count where the plan has them, instructions that a core fetches where
    its code is. Stacks do not count.

    Args:
        cost: of the network.
        step: what runs the operator.
        op: the operator.
        goes_on: its engine goes on with the next operator by itself.
    """
    spent = cost.spent[op.name]
    data = _by_engine(cost, step, spent.busy, goes_on) if spent.busy else _on_core(cost, step, op)
    return add_up((*data, *_fetch_traffic(cost, op, spent.cycles)), cost.soc)


def add_up(parts: Iterable[Traffic], soc: ResolvedSoc) -> tuple[Traffic, ...]:
    """Return the sum of what is moved in each memory that is touched."""
    by_memory: dict[str, list[Traffic]] = {}
    for each in parts:
        by_memory.setdefault(each.memory, []).append(each)
    return tuple(
        Traffic(
            memory=memory.name,
            read=sum(each.read for each in moved),
            written=sum(each.written for each in moved),
            cycles=sum(each.cycles for each in moved),
            basis=joint_basis(each.basis for each in moved),
        )
        for memory in soc.memories
        if (moved := by_memory.get(memory.name))
    )


def _by_engine(cost: Program, step: Step, busy: Busy, goes_on: bool) -> Iterator[Traffic]:
    """Yield what an engine moves: as many bytes in a cycle as the pool gives it."""
    soc = cost.soc
    job, action = cost.jobs[step.operator], step.action
    assert isinstance(action, EngineAction)
    reads, copied = busy.reads, job.copied
    often = {_buffer_of(copied.get(name, name), cost): count for name, count in reads.items()}
    each = job.commands_size // job.commands_count
    often[job.commands] = action.count * each + (job.link_size if goes_on else 0)
    for name, size, written in _touched_buffers(step, cost):
        pool = soc.pool(cost.pools[name])
        count, speed = size if written else often.get(name, size), speed_of(pool, soc)
        cycles = speed.write_cycles(count) if written else speed.read_cycles(count)
        cycles = -(-cycles * soc.host_cpu.clock // speed.clock)
        yield _traffic(pool.region.memory, count, cycles, written=written)


def _on_core(cost: Program, step: Step, op: Operator) -> Iterator[Traffic]:
    """Yield what a core moves, an element in a cycle, or as many as fill the port with vectors.

    Windows read an element of the first input for each tap, and a weight; what the compiler made,
    such as multipliers, is read once for each result. Of memory that a data cache of a known size
    may keep, lines count, and what is stored through it.
    """
    graph, soc = cost.graph, cost.soc
    device = soc.device(op.device)
    vectors = isinstance(device, Cpu) and device.arithmetic.vectors is Vectors.MVE
    features = kind_of(op).features(op, graph)
    made = sum(tensor.stored for tensor in graph.results(op))
    taps = features["macs"] or made * features.get("kernel_h", 1) * features.get("kernel_w", 1)
    often = dict.fromkeys(op.inputs[: 2 if features["macs"] else 1], taps)
    stored = {_buffer_of(name, cost): name for name in filter(None, (*op.inputs, *op.outputs))}
    lines, held = cost.lines.get(op.name), True
    if lines and isinstance(device, Cpu) and device.cache:
        held = device.cache.write_back
        yield from _line_traffic(lines, device.cache.line, soc)
    for buffer, size, written in _touched_buffers(step, cost):
        through = written and not held
        if lines and soc.is_kept(soc.pool(cost.pools[buffer]).region) and not through:
            continue
        tensor = graph.tensor(stored[buffer]) if buffer in stored else None
        item = ITEM_BYTES[tensor.dtype] if tensor else 4
        count = made
        if tensor:
            count = size // item if written else often.get(tensor.name, size // item)
        memory = soc.memory(soc.pool(cost.pools[buffer]).region.memory)
        at_once = max(1, memory.width // item) if vectors else 1
        yield _traffic(memory.name, count * item, -(-count // at_once), written=written)


def _line_traffic(lines: OperatorLines, size: int, soc: ResolvedSoc) -> Iterator[Traffic]:
    for name, moved in lines.by_memory.items():
        width = soc.memory(name).width
        for number, written in ((moved.loaded, False), (moved.written, True)):
            count = round(number)
            cycles = count * -(-size // width)
            found = _traffic(name, count * size, cycles, written=written)
            yield replace(found, basis=lines.basis)


def _fetch_traffic(cost: Program, op: Operator, cycles: int) -> Iterator[Traffic]:
    """Yield the instructions that cores fetch for their own operators, a word in a cycle.

    Each core has an instruction cache of its own.
    """
    for name in op.devices:
        core = cost.soc.device(name)
        if isinstance(core, Cpu):
            latency = cost.soc.memory(core.code.memory).read_latency
            like = core_to_count(op, cost.graph, core)
            counted = counted_instructions(op, cost.graph, like) if like else None
            count = cycles // (KERNEL_CYCLES + latency)
            if (cached := cached_fetches(op, cost.graph, core)) is not None:
                count = -(-cached // FETCH_BYTES)
            elif counted is not None:
                count = counted // len(op.devices)
            moved = _traffic(core.code.memory, count * FETCH_BYTES, count, written=False)
            ran = runs_of(op, cost.graph, core)
            basis = (
                basis_of_operator(op, cost.graph, cost.soc) if ran else basis_of(cost.soc, (name,))
            )
            yield replace(moved, basis=basis)


def _traffic(memory: str, count: int, cycles: int, *, written: bool) -> Traffic:
    return Traffic(
        memory=memory, read=0 if written else count, written=count if written else 0, cycles=cycles
    )


def _touched_buffers(step: Step, cost: Program) -> Iterator[tuple[str, int, bool]]:
    """Yield the buffers in pools that a step reads and writes, or parts, with their bytes."""
    for names, written in ((step.reads, False), (step.writes, True)):
        yield from (
            (name, cost.sizes[name], written) for name in dict.fromkeys(names) if name in cost.pools
        )


def _buffer_of(name: str, cost: Program) -> str:
    """Return the buffer that holds a tensor, or a constant of a job."""
    graph = cost.graph
    stored = graph.buffer(name) if name in graph.by_name else name
    return cost.copies.get(stored, stored)
