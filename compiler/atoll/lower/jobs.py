# SPDX-License-Identifier: Apache-2.0
"""Ask the emitters of accelerators for their jobs, and judge what they return."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.safe_overlap import SafeOverlap
from atoll.lower.joined_lists import link_command
from atoll.lower.overlapping import Overlapping
from atoll.ops.registry import kind_of
from atoll.plugins.loading import is_own
from atoll.resolve.engine_parts import RECORDS, code_of, emitter_of, links, whole
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.resolve.timeless import timeless_device
from atoll.utils.remember import Alike, remember

JOBS_AT_HAND = 512
"""Jobs that a process keeps, each with its packed constants."""

_MOST = {"commands_size": 2**28, "commands_count": 65535}
_MOST_ALIGNMENT = 4096
_LIST_ALIGNMENT = 64  # of every list of commands: the C driver refuses another one


def prepare_jobs(graph: Graph, soc: ResolvedSoc, splits: int) -> Mapping[str, Job]:
    """Return the jobs of a placed graph by operator; `splits` as for `CommandEmitter.prepare`."""
    jobs: dict[str, Job] = {}
    taken: set[str] = set()
    for op in graph.operators:
        if isinstance(npu := soc.device(op.device), Engine):
            job = prepare(op, graph, npu, splits)
            refuse_repetition(job, npu, taken)
            jobs[op.name] = job
    return jobs


def _job(op: Operator, graph: Graph, npu: Engine, splits: int) -> Alike | None:
    """Return what a job of Atoll's own emitters depends on: no buffer of it is a tensor's."""
    if not is_own(npu.spec.emitter):
        return None
    tensors = tuple(map(graph.by_name.__getitem__, (*op.reads, *op.outputs)))
    values = op, tensors, timeless_device(npu), graph.by_name.keys(), code_of(npu)
    return Alike((op.name, npu.name, splits), *values)


@remember(_job, most=JOBS_AT_HAND)
def prepare(op: Operator, graph: Graph, npu: Engine, splits: int) -> Job:
    """Return what `CommandEmitter.prepare` returns.

    Raises:
        AtollError: E041, E110 to E112; the emitter cannot, or returns what is no job for `op`.
    """
    emitter, about, asked = emitter_of(npu), name_operator(op), as_emitted(op, npu)
    job = emitter.call("prepare", asked, graph, npu, splits, about=about)
    if not isinstance(job, Job):
        raise emitter.wrong("prepare", f"{job!r:.80}, no Job", about)
    if objection := next(_objections(job, asked, graph, npu), None):
        raise emitter.wrong("prepare", f"a Job whose {objection}", about)
    if links(emitter):
        each, link = job.commands_size // job.commands_count, link_command(emitter, 0, 1)
        if len(link) != each:
            raise emitter.wrong("link", f"{len(link)} bytes, where a command has {each}", about)
        job = replace(job, link_size=each)
    if asked.packed == op.packed:
        return job
    names = (constant.name for constant in job.constants)
    copied = dict(zip(names, op.packed, strict=True))
    return replace(job, constants=(), reads=(*job.reads, *op.packed), copied=copied)


def as_emitted(op: Operator, npu: Engine) -> Operator:
    """Return an operator as its emitter gets it: only Atoll's own records know of copies."""
    return op if npu.spec.emitter == RECORDS else replace(op, packed=())


def refuse_repetition(job: Job, npu: Engine, taken: set[str]) -> None:
    """Add the buffers of a job to those that earlier jobs have.

    Raises:
        AtollError: E112; the job names one of them again.
    """
    made = (job.commands, *(tensor.name for tensor in job.constants))
    if repeated := next((name for name in made if name in taken), None):
        what = f"a Job with the buffer '{repeated}', which another operator's job has"
        raise emitter_of(npu).wrong("prepare", what, f"operator '{job.operator}'")
    taken.update(made)


def overlaps_of(
    op: Operator, network: Graph, soc: ResolvedSoc, overlapping: Overlapping
) -> Mapping[tuple[str, str], int]:
    """Return by how many bytes a result must lie below an operand that it may lie over, by both.

    Args:
        op: placed.
        network: that it is of.
        soc: the chip.
        overlapping: where results may lie over operands.
    """
    if overlapping.keeps_apart(op):
        return {}
    if isinstance(npu := soc.device(op.device), Engine):
        job = prepare(op, network, npu, overlapping.splits)
        return {(each.written, each.read): each.distance for each in job.overlaps}
    distances = zip(op.inputs, kind_of(op).overlap(op, network), strict=True)
    first = op.outputs[0] if op.outputs else ""
    return {(first, name): distance for name, distance in distances if distance is not None}


def name_operator(op: Operator) -> str:
    """Return what messages call an operator."""
    return f"operator '{op.name}' ({op.kind.upper()})"


def _objections(job: Job, op: Operator, graph: Graph, npu: Engine) -> Iterator[str]:
    """Yield what is wrong with a job in itself."""
    if (job.operator, job.device) != (op.name, npu.name):
        yield f"operator and device are {job.operator!r:.40} and {job.device!r:.40}"
    inputs = set(op.reads)
    if not isinstance(job.reads, tuple) or not set(job.reads) <= inputs:
        yield f"'reads' is {job.reads!r:.80}, no tuple of inputs of the operator"
    elif missing := {name for name in inputs if graph.tensor(name).data is None} - {*job.reads}:
        yield f"'reads' lacks the input {sorted(missing)[0]!r}"
    if job.writes != op.outputs:
        yield f"'writes' is {job.writes!r:.80}, not the operator's outputs {op.outputs!r}"
    yield from _constants(job, graph)
    if not isinstance(job.commands, str) or job.commands in graph.by_name:
        yield f"'commands' is {job.commands!r:.80}, no name of a buffer of its own"
    yield from _numbers(job)
    for overlap in job.overlaps:
        if not _is_overlap(overlap, job):
            yield f"'overlaps' holds {overlap!r:.120}, no SafeOverlap of 'writes' over 'reads'"


def _is_overlap(overlap: object, job: Job) -> bool:
    if not isinstance(overlap, SafeOverlap) or whole(overlap.distance) < 0:
        return False
    return overlap.written in job.writes and overlap.read in job.reads


def _constants(job: Job, graph: Graph) -> Iterator[str]:
    for constant in job.constants:
        if not isinstance(constant, Tensor) or not isinstance(constant.data, bytes):
            yield f"'constants' holds {constant!r:.80}, no Tensor with data"
        elif constant.dtype not in ITEM_BYTES:
            yield f"constant '{constant.name}' has the type {constant.dtype!r:.40}"
        elif constant.size != len(constant.data):
            size = f"{len(constant.data)} bytes, its shape and type {constant.size}"
            yield f"constant '{constant.name}' has {size}"
        elif constant.name in graph.by_name:
            yield f"constant '{constant.name}' has the name of a tensor of the network"


def _numbers(job: Job) -> Iterator[str]:
    for name in ("commands_size", "commands_count"):
        if not 1 <= whole(getattr(job, name)) <= _MOST[name]:
            yield f"'{name}' is {getattr(job, name)!r:.40}, no number from 1 to {_MOST[name]}"
            return
    if job.commands_size % job.commands_count:
        size = f"'commands_size' {job.commands_size}"
        yield f"{size} is not a multiple of {job.commands_count} commands"
    for name in ("alignment", "commands_alignment"):
        value = whole(getattr(job, name))
        if not 1 <= value <= _MOST_ALIGNMENT or value.bit_count() != 1:
            yield f"'{name}' is {getattr(job, name)!r:.40}, no power of two up to {_MOST_ALIGNMENT}"
    if job.commands_alignment < _LIST_ALIGNMENT:
        yield f"'commands_alignment' is {job.commands_alignment}, less than {_LIST_ALIGNMENT}"
