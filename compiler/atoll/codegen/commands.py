"""What accelerators are asked to run: jobs before memory planning, commands after it."""

from collections.abc import Mapping
from dataclasses import replace

from atoll.codegen.emitters import encoded, prepared, refuse_repetition
from atoll.ir.graph import Graph
from atoll.ir.tir import AcceleratorRun, AcceleratorStart, IRModule, Step
from atoll.lower.accelerator import Job
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import Engine, ResolvedSoc


def prepare_jobs(graph: Graph, soc: ResolvedSoc, splits: int) -> Mapping[str, Job]:
    """Return the jobs of a placed graph by operator; `splits` as for `CommandEmitter.prepare`."""
    jobs: dict[str, Job] = {}
    taken: set[str] = set()
    for op in graph.operators:
        if isinstance(npu := soc.device(op.device), Engine):
            job = prepared(op, graph, npu, splits)
            refuse_repetition(job, npu, taken)
            jobs[op.name] = job
    return jobs


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

    def address(buffer: str) -> int:
        stored = graph.storage(buffer) if buffer in graph.by_name else buffer
        return plan.address(copies.get(stored, stored))

    return {
        jobs[op.name].commands: encoded(op, graph, npu, jobs[op.name], address, splits)
        for op in graph.operators
        if isinstance(npu := soc.device(op.device), Engine)
    }


def with_counts(
    module: IRModule, jobs: Mapping[str, Job], commands: Mapping[str, bytes]
) -> IRModule:
    """Return the module whose steps run as many commands as there are."""
    counts = {
        job.commands: len(commands[job.commands]) * job.commands_count // job.commands_size
        for job in jobs.values()
    }

    def counted(step: Step) -> Step:
        action = step.action
        if not isinstance(action, (AcceleratorRun, AcceleratorStart)):
            return step
        return replace(step, action=replace(action, count=counts[action.commands]))

    entry = replace(module.entry, steps=tuple(map(counted, module.entry.steps)))
    return replace(module, entry=entry)


def command_counts(module: IRModule) -> Mapping[str, int]:
    """Return how many commands each operator on an accelerator has, by operator."""
    return {
        step.operator: step.action.count
        for step in module.entry.steps
        if isinstance(step.action, (AcceleratorRun, AcceleratorStart))
    }


def padded(commands: Mapping[str, bytes], jobs: Mapping[str, Job]) -> Mapping[str, bytes]:
    """Return command lists as large as they were planned, zeros behind the last command."""
    sizes = {job.commands: job.commands_size for job in jobs.values()}
    return {name: data.ljust(sizes[name], b"\0") for name, data in commands.items()}
