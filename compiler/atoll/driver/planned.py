# SPDX-License-Identifier: Apache-2.0
"""Programs and plans of placed networks, made once for equal networks on chips of any speed."""

from collections.abc import Mapping
from dataclasses import replace

from atoll.codegen.commands import encode_commands, with_counts
from atoll.contract.accepted import accept, agree
from atoll.contract.contract import Contract
from atoll.driver.task import BuildOptions
from atoll.ir.tir import IRModule
from atoll.ir.verify import verify
from atoll.lower.jobs import prepare_jobs
from atoll.lower.passes import Program, run_passes
from atoll.lower.size_hints import ceilings_of
from atoll.memory.build_problem import build_problem, pool_spaces, with_parts
from atoll.memory.ceilings import with_ceilings
from atoll.memory.problem import Answer, MemoryPlan, Problem
from atoll.memory.solve import solve
from atoll.place.passes import Observer, ignore_result
from atoll.reach.rooms import Answers
from atoll.records import dataclass
from atoll.resolve.engine_parts import code_of
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import sizeless
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

AT_HAND = 64
"""Programs, and what makes plans, that a process keeps; those of vww take 0.3 MiB each."""

PLANS_AT_HAND = 256
"""Plans that it keeps; lanes that come again have several each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A program with an address for every byte.

    Attributes:
        module: with the commands that there are.
        planned: the same before they were encoded.
        commands: by list, as long as they are.
    """

    module: IRModule
    planned: IRModule
    plan: MemoryPlan
    commands: Mapping[str, bytes]
    contract: Contract


def _program(program: Program, observe: Observer) -> Alike | None:
    """Return what a program depends on beside sizes of pools."""
    soc, graph = program.soc, program.graph
    if observe is not ignore_result or len(graph.operators) > MOST_OPERATORS:
        return None
    devices = tuple(op.devices for op in graph.operators)
    engines = tuple(tuple(each.params.items()) for each in soc.engines)
    sign = soc.name, engines, graph.name, devices, program.overlapping, program.spare
    return Alike(sign, sizeless(soc), graph, program.requests, code_of(*soc.engines))


@remember(_program, most=AT_HAND)
def _programs(program: Program, observe: Observer) -> Answers[Program]:
    """Return programs of a placed network for pools of some sizes, to be added to."""
    return Answers()


def lower(program: Program, observe: Observer) -> Program:
    """Return the jobs and the module of a program that has none yet."""

    def make(soc: ResolvedSoc) -> Program:
        jobs = prepare_jobs(program.graph, soc, program.overlapping.splits)
        return run_passes(replace(program, soc=soc, jobs=jobs), observe)

    return replace(_programs(program, observe).find(program.soc, make), soc=program.soc)


def _problem(
    program: Program, module: IRModule, reserved: Mapping[str, int], options: BuildOptions
) -> Alike | None:
    if len(program.graph.operators) > MOST_OPERATORS:
        return None
    chip, name = program.soc.shape_sign, program.graph.name
    sign = chip, name, options.algorithm, options.effort, tuple(reserved.items())
    steps = tuple(step.number for step in module.entry.steps)
    return Alike((sign, steps), program, module)


@remember(_problem, most=PLANS_AT_HAND)
def plan(
    program: Program, module: IRModule, reserved: Mapping[str, int], options: BuildOptions
) -> Planned | Answer:
    """Return a program planned and accepted, or why there is no room.

    Args:
        program: lowered.
        module: its own, or one whose devices work at once.
        reserved: bytes at the start of pools that hold other models' constants.
        options: what the user chose.
    """
    problem = replace(_buffers(program, module), pools=pool_spaces(program.soc, reserved))
    ceilings = ceilings_of(program.requests, program.graph, program.module.entry)
    answer = solve(with_ceilings(problem, ceilings), name=options.algorithm, effort=options.effort)
    if not isinstance(answer, MemoryPlan):
        return answer
    found = with_parts(answer, module.entry)
    return replace(_finish(program, module, found), plan=found)


def _buffers_key(program: Program, module: IRModule) -> Alike | None:
    if len(program.graph.operators) > MOST_OPERATORS:
        return None
    sign = program.soc.name, program.graph.name, len(module.entry.steps)
    return Alike(sign, sizeless(program.soc), module, program.module)


@remember(_buffers_key, most=AT_HAND)
def _buffers(program: Program, module: IRModule) -> Problem:
    """Return the problem of a program that is verified, whose pools do not count."""
    verify(module, program.module)
    return build_problem(module, program.soc)


def _finish_key(program: Program, module: IRModule, found: MemoryPlan) -> Alike | None:
    """Return what rests on the addresses of a plan, None where caches and heaps look at sizes."""
    soc, graph = program.soc, program.graph
    cached = soc.cached_devices or any(pool.heap for pool in soc.pools)
    if cached or len(graph.operators) > MOST_OPERATORS:
        return None
    origins = tuple([pool.origin for pool in found.problem.pools])
    sign = soc.name, graph.name, len(module.entry.steps), origins
    own = graph, program.jobs, program.copies, program.overlapping.splits, module
    return Alike(sign, sizeless(soc), *own, found.placements, code_of(*soc.engines))


@remember(_finish_key, most=AT_HAND)
def _finish(program: Program, module: IRModule, found: MemoryPlan) -> Planned:
    """Return a program on a plan, with its commands, all accepted."""
    graph, soc, splits = program.graph, program.soc, program.overlapping.splits
    accepted = accept(module, found, soc)
    encoded = encode_commands(graph, soc, program.jobs, program.copies, found, splits)
    counted = with_counts(accepted, program.jobs, encoded)
    return Planned(
        module=counted,
        planned=accepted,
        plan=found,
        commands=encoded,
        contract=agree(counted, found, graph, soc, encoded),
    )
