# SPDX-License-Identifier: Apache-2.0
"""The commands of jobs, encoded when memory is planned."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from atoll.contract.chains import check_chains
from atoll.ir.graph import Graph, Operator
from atoll.ir.job import Job
from atoll.ir.tir import EngineAction, IRModule, Step
from atoll.lower.jobs import as_emitted, name_operator
from atoll.lower.joined_lists import with_links
from atoll.memory.problem import MemoryPlan
from atoll.plugins.loading import Part
from atoll.resolve.engine_parts import emitter_of
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Engine, ResolvedSoc


def encode_commands(
    graph: Graph,
    soc: ResolvedSoc,
    jobs: Mapping[str, Job],
    copies: Mapping[str, str],
    plan: MemoryPlan,
    splits: int,
) -> Mapping[str, bytes]:
    """Return the bytes of every command list, by buffer; fewer than planned for fewer commands.

    Args:
        graph: placed.
        soc: the chip.
        jobs: of `prepare_jobs`.
        copies: for each constant that repeats another, the one that stands for both.
        plan: where all buffers are.
        splits: what `prepare_jobs` got.
    """

    def address(engine: str, buffer: str) -> int:
        stored = graph.buffer(buffer) if buffer in graph.by_name else buffer
        stored = copies.get(stored, stored)
        return device_address(soc, engine, plan.address(stored))

    return {
        jobs[op.name].commands: encode(
            op, graph, npu, jobs[op.name], partial(address, npu.name), splits
        )
        for op in graph.operators
        if isinstance(npu := soc.device(op.device), Engine)
    }


def encode(
    op: Operator, graph: Graph, npu: Engine, job: Job, address: Callable[[str], int], splits: int
) -> bytes:
    """Return what `CommandEmitter.encode` returns for a `job` of `prepared`.

    Raises:
        AtollError: E041, E110 to E112; the emitter cannot, or returns no commands of that job.
    """
    emitter, about = emitter_of(npu), name_operator(op)
    known = {*job.reads, *job.writes, *(tensor.name for tensor in job.constants), *job.copied}

    def of(buffer: str) -> int:
        if buffer in known:
            return address(job.copied.get(buffer, buffer))
        listed = ", ".join(sorted(known))
        raise _unanswerable(emitter, about, buffer, listed)

    data = emitter.call("encode", as_emitted(op, npu), graph, npu, of, splits, about=about)
    if not isinstance(data, bytes):
        raise emitter.wrong("encode", f"{data!r:.80}, no bytes", about)
    if not 0 < len(data) <= job.commands_size:
        size = f"{len(data)} bytes, where 'prepare' announced 1 to {job.commands_size}"
        raise emitter.wrong("encode", size, about)
    if len(data) * job.commands_count % job.commands_size:
        each = job.commands_size // job.commands_count
        raise emitter.wrong(
            "encode", f"{len(data)} bytes, not a multiple of {each} a command", about
        )
    return data


def _unanswerable(emitter: Part, about: str, buffer: str, known: str) -> Exception:
    what = f"nothing: it asked for the address of {buffer!r:.80}; its job has {known}"
    return emitter.wrong("encode", what, about)


def with_counts(
    module: IRModule, jobs: Mapping[str, Job], commands: Mapping[str, bytes]
) -> IRModule:
    """Return the module whose steps run as many commands as there are."""
    counts = {
        job.commands: len(commands[job.commands]) * job.commands_count // job.commands_size
        for job in jobs.values()
    }

    def with_count(step: Step) -> Step:
        action = step.action
        if not isinstance(action, EngineAction):
            return step
        return replace(step, action=replace(action, count=counts[action.commands]))

    entry = replace(module.entry, steps=tuple(map(with_count, module.entry.steps)))
    return replace(module, entry=entry)


def pad_lists(commands: Mapping[str, bytes], jobs: Mapping[str, Job]) -> Mapping[str, bytes]:
    """Return command lists as large as they were planned, zeros behind the last command."""
    sizes = {job.commands: job.commands_size + job.link_size for job in jobs.values()}
    return {name: data.ljust(sizes[name], b"\0") for name, data in commands.items()}


def link_lists(
    commands: Mapping[str, bytes], module: IRModule, plan: MemoryPlan, soc: ResolvedSoc
) -> Mapping[str, bytes]:
    """Return lists of `pad_lists` as an image has them: an engine goes from one to the next.

    Which those are follows from the steps of the module (`atoll.lower.joined_lists`), and the
    contract, which derives it by itself, has to agree.

    Raises:
        AtollError: E111, E112; an emitter fails, or returns no such command.
        PlanError: E197; a list goes on where it must not, or otherwise than it must.
    """
    lists = dict(commands)
    engines = {
        step.action.commands: step.action.device
        for step in module.entry.steps
        if isinstance(step.action, EngineAction)
    }
    with_links(
        module.entry.steps,
        soc,
        lists,
        lambda name: device_address(soc, engines[name], plan.address(name)),
    )
    check_chains(module, plan, lists, soc)
    return lists
