# SPDX-License-Identifier: Apache-2.0
"""Let as many devices work at the same time as the pools have room for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from atoll.cost.engines import driver_cycles
from atoll.cost.lists import joint_saving
from atoll.diagnostics.errors import PlacementError, PlanError
from atoll.driver.outcome import Infeasible
from atoll.driver.task import Task
from atoll.ir.ceiling import Ceiling
from atoll.ir.tir import IRModule, Step
from atoll.ir.verify import verify
from atoll.lower.joined_lists import joined
from atoll.lower.overlap_runs import OverlapRuns
from atoll.memory.build_problem import build_problem, with_parts
from atoll.memory.ceilings import with_ceilings
from atoll.memory.problem import Answer, MemoryPlan
from atoll.memory.solve import refusal_of, solve
from atoll.resolve.soc import Engine, ResolvedSoc


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A program in which devices work at the same time, and its plan."""

    module: IRModule
    plan: MemoryPlan


def schedule(
    task: Task,
    soc: ResolvedSoc,
    module: IRModule,
    cycles: Mapping[str, int],
    ceilings: Mapping[str, tuple[Ceiling, ...]],
) -> Scheduled | Infeasible:
    """Return a program with a plan, the first that has one.

    All asynchronous devices are tried first, cores included, then DMA engines alone, then one
    device at a time.
    """
    options = task.options

    def plan(module: IRModule) -> Answer:
        problem = with_ceilings(build_problem(module, soc, task.reserved), ceilings)
        return solve(problem, name=options.algorithm, effort=options.effort)

    for overlaps in _overlaps(soc, cycles):
        for overlapped in overlaps.ways(module):
            verify(overlapped, module)
            answer = plan(overlapped)
            if isinstance(answer, MemoryPlan):
                return Scheduled(overlapped, with_parts(answer, overlapped.entry))
    answer = plan(module)
    if isinstance(answer, MemoryPlan):
        return Scheduled(module, with_parts(answer, module.entry))
    steps = [*(step.operator for step in module.entry.steps), "the caller reads"]
    error = refusal_of(answer, steps, name=options.algorithm, effort=options.effort)
    assert isinstance(error, PlacementError | PlanError)
    return Infeasible(error=error, crowded=True)


def _overlaps(soc: ResolvedSoc, cycles: Mapping[str, int]) -> Sequence[OverlapRuns]:
    engines, copiers = (
        frozenset(each.name for each in among if each.spec.asynchronous)
        for among in (soc.engines, soc.dmas)
    )
    cores = frozenset(core.name for core in soc.remote_cpus)
    return [
        OverlapRuns(
            devices=devices,
            cycles=cycles,
            host=driver_cycles(soc)[:2],
            saving=partial(_saving, soc=soc),
            movers=copiers,
        )
        for devices in (engines | cores, copiers)
    ]


def _saving(steps: Sequence[Step], soc: ResolvedSoc) -> int:
    """Return what steps take less since engines go from one to the next by themselves."""
    following = (step.device for each in joined(steps, soc) for step in each[1:])
    engines = (soc.device(device) for device in following)
    return sum(joint_saving(each, soc) for each in engines if isinstance(each, Engine))
