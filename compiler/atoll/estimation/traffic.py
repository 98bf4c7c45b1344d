# SPDX-License-Identifier: Apache-2.0
"""Which bytes of which memory an operator moves, and how long that keeps the memory's port busy."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from atoll.cost.basis import basis_of, joint_basis
from atoll.cost.copies import speed_of
from atoll.cost.measured import FETCH_BYTES, KERNEL_CYCLES
from atoll.driver.pipeline import Compiled
from atoll.ir.busy import Busy
from atoll.ir.graph import ITEM_BYTES, Operator
from atoll.ir.tir import EngineAction, Step
from atoll.ops.registry import kind_of
from atoll.report.estimate import Traffic
from atoll.resolve.soc import Cpu


def traffic_of(
    compiled: Compiled, step: Step, op: Operator, cycles: int, busy: Busy | None, *, goes_on: bool
) -> tuple[Traffic, ...]:
    """Return what an operator moves, by memory; those that it does not touch are left out.

    Activations and constants count where the plan has them, instructions that a core fetches where
    its code is. Stacks do not count.

    Args:
        compiled: the network.
        step: what runs the operator.
        op: the operator.
        cycles: of the host, from its begin to its end.
        busy: how often its engine reads what; None on cores.
        goes_on: the engine goes on with the next operator by itself.
    """
    moved = [
        *(
            _on_core(compiled, step, op)
            if busy is None
            else _by_engine(compiled, step, busy, goes_on)
        ),
        *_fetched(compiled, op, cycles),
    ]
    names = {each.memory for each in moved}
    return tuple(
        added(memory.name, (each for each in moved if each.memory == memory.name))
        for memory in compiled.soc.memories
        if memory.name in names
    )


def added(memory: str, parts: Iterable[Traffic]) -> Traffic:
    """Return the sum of what is moved in one memory."""
    each = tuple(parts)
    read, written, cycles = (
        sum(part) for part in zip(*((e.read, e.written, e.cycles) for e in each), strict=True)
    )
    basis = joint_basis(one.basis for one in each)
    return Traffic(memory=memory, read=read, written=written, cycles=cycles, basis=basis)


def _by_engine(compiled: Compiled, step: Step, busy: Busy, goes_on: bool) -> Iterator[Traffic]:
    """Yield what an engine moves: as many bytes in a cycle as the pool gives it."""
    soc = compiled.soc
    job, action = compiled.jobs[step.operator], step.action
    assert isinstance(action, EngineAction)
    reads, copied = busy.reads, job.copied
    often = {_stored(copied.get(name, name), compiled): count for name, count in reads.items()}
    each = job.commands_size // job.commands_count
    often[job.commands] = action.count * each + (job.link_size if goes_on else 0)
    for name, size, written in _touched(step, compiled):
        pool = soc.pool(compiled.plan.placements[name].pool)
        count, speed = size if written else often.get(name, size), speed_of(pool, soc)
        cycles = speed.write_cycles(count) if written else speed.read_cycles(count)
        cycles = -(-cycles * soc.host_cpu.clock // speed.clock)
        yield _moved(pool.region.memory, count, cycles, written=written)


def _on_core(compiled: Compiled, step: Step, op: Operator) -> Iterator[Traffic]:
    """Yield what a core moves, an element in a cycle.

    Windows read an element of the first input for each tap, and a weight; what the compiler made,
    such as multipliers, is read once for each result.
    """
    graph, soc = compiled.graph, compiled.soc
    features = kind_of(op).features(op, graph)
    made = sum(tensor.stored for tensor in graph.results(op))
    taps = features["macs"] or made * features.get("kernel_h", 1) * features.get("kernel_w", 1)
    often = dict.fromkeys(op.inputs[: 2 if features["macs"] else 1], taps)
    stored = {_stored(name, compiled): name for name in filter(None, (*op.inputs, *op.outputs))}
    for buffer, size, written in _touched(step, compiled):
        tensor = graph.tensor(stored[buffer]) if buffer in stored else None
        item = ITEM_BYTES[tensor.dtype] if tensor else 4
        count = made
        if tensor:
            count = size // item if written else often.get(tensor.name, size // item)
        memory = soc.pool(compiled.plan.placements[buffer].pool).region.memory
        yield _moved(memory, count * item, count, written=written)


def _fetched(compiled: Compiled, op: Operator, cycles: int) -> Iterator[Traffic]:
    """Yield the instructions that cores fetch for their own operators."""
    for name in op.devices:
        core = compiled.soc.device(name)
        if isinstance(core, Cpu):
            latency = compiled.soc.memory(core.code.memory).read_latency
            count = cycles // (KERNEL_CYCLES + latency)
            moved = _moved(core.code.memory, count * FETCH_BYTES, count, written=False)
            yield replace(moved, basis=basis_of(compiled.soc, (name,)))


def _moved(memory: str, count: int, cycles: int, *, written: bool) -> Traffic:
    return Traffic(
        memory=memory, read=0 if written else count, written=count if written else 0, cycles=cycles
    )


def _touched(step: Step, compiled: Compiled) -> Iterator[tuple[str, int, bool]]:
    """Yield the buffers in pools that a step reads and writes, or parts, with their bytes."""
    sizes, places = compiled.module.entry.sizes, compiled.plan.placements
    for names, written in ((step.reads, False), (step.writes, True)):
        yield from ((name, sizes[name], written) for name in dict.fromkeys(names) if name in places)


def _stored(name: str, compiled: Compiled) -> str:
    """Return the buffer that holds a tensor, or a constant of a job."""
    graph = compiled.graph
    stored = graph.buffer(name) if name in graph.by_name else name
    return compiled.copies.get(stored, stored)
