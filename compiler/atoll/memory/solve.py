# SPDX-License-Identifier: Apache-2.0
"""Plan memory: the one way in to every algorithm. The checker accepts what comes out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic

from atoll.diagnostics.errors import AtollError, Fault, PlanError
from atoll.memory.algorithms import DEFAULT, PLANNERS
from atoll.memory.ceilings import solve_below, too_low, without_ceilings
from atoll.memory.checker import check
from atoll.memory.effort import USUAL, Effort, Meter, Observer, ignore_progress
from atoll.memory.explain import explain, fewest, pools_to_grow
from atoll.memory.problem import Answer, Infeasible, MemoryPlan, Placement, Problem
from atoll.memory.problem_rules import problem_faults
from atoll.plugins.loading import CORRECT_MEMBER

_PROVER = "exact"
"""The algorithm that tells which buffers are to blame if there is no plan."""

_TRIAL = Effort(nodes=20_000)
"""For each of the many trials that look for the smallest change with which a problem fits."""

_AFTERWARDS = 0.1
"""Part of a budget in time that all of them may take beside it."""


def solve(
    problem: Problem,
    *,
    name: str = DEFAULT,
    effort: Effort | None = None,
    observe: Observer = ignore_progress,
) -> Answer:
    """Answer `problem`.

    Args:
        problem: what to place.
        name: the algorithm, one of `PLANNERS.names()`.
        effort: what it may spend.
        observe: told about every better plan of a pool.

    Raises:
        PlanError: E064, the problem is not well-formed, or the algorithm's plan is wrong.
        UsageError: E094; there is no such algorithm.
        AtollError: E112; another package's algorithm returned no answer.
    """
    return _answer(problem, name, Meter(effort or USUAL, observe))


def _answer(problem: Problem, name: str, meter: Meter) -> Answer:
    """Return what an algorithm makes of a problem, checked."""
    plan = PLANNERS.get(name)
    faults = tuple(problem_faults(problem))
    if faults:
        raise PlanError.all(faults)
    if name not in PLANNERS.own and any(buffer.ceilings for buffer in problem.buffers):
        below = solve_below(problem, lambda easier: _answer(easier, name, meter))
        if isinstance(below, MemoryPlan):
            check(below)
        return below
    answer: object = plan(problem, meter)
    if not isinstance(answer, (MemoryPlan, Infeasible)) or answer.problem != problem:
        message = f"planning algorithm '{name}' returned {answer!r:.80}, no answer to the problem"
        raise AtollError("E112", message, remedy=CORRECT_MEMBER)
    if isinstance(answer, MemoryPlan):
        check(answer)
    return answer


def plan_memory(
    problem: Problem,
    operators: Sequence[str] = (),
    *,
    name: str = DEFAULT,
    effort: Effort | None = None,
    observe: Observer = ignore_progress,
) -> MemoryPlan:
    """Plan `problem` as `solve` does, or explain what does not fit, once somebody reads the error.

    `operators` names the operator of each step, for errors.

    Raises:
        PlanError: E060 to E062, a buffer fits nowhere; E064, as `solve`.
        UsageError: as `solve`.
    """
    answer = solve(problem, name=name, effort=effort, observe=observe)
    if isinstance(answer, MemoryPlan):
        return answer
    raise refusal_of(answer, operators, name=name, effort=effort)


def refusal_of(
    answer: Infeasible,
    operators: Sequence[str] = (),
    *,
    name: str = DEFAULT,
    effort: Effort | None = None,
) -> AtollError:
    """Return the error of `plan_memory`: what does not fit is found once somebody reads it."""
    return PlanError.later("E062", "no plan", partial(_reasons, answer, operators, name, effort))


def crowded_pools(answer: Infeasible) -> frozenset[str] | None:
    """Return the pools that the error of an answer wants to be larger, None if only that tells."""
    limited = any(buffer.ceilings for buffer in answer.problem.buffers)
    return None if limited or not answer.proven else pools_to_grow(answer.problem, _trial)


def _reasons(
    answer: Infeasible, operators: Sequence[str], name: str, effort: Effort | None
) -> Iterable[Fault]:
    problem = answer.problem
    if any(buffer.ceilings for buffer in problem.buffers):
        free = solve(without_ceilings(problem), name=name, effort=effort)
        if isinstance(free, MemoryPlan):
            trial = partial(_trial, name=name)
            return too_low(problem, free, trial, proven=answer.proven)
        answer = free
    culprits = fewest(answer, PLANNERS.get(_PROVER)).buffers if answer.proven else ()
    seconds = effort.seconds if effort else None
    search = _trial if seconds is None else _Trials(_AFTERWARDS * seconds)
    return explain(answer.problem, operators, search, culprits, proven=answer.proven)


def _trial(
    problem: Problem, name: str = DEFAULT, effort: Effort = _TRIAL
) -> Mapping[str, Placement] | None:
    answer = _answer(problem, name, Meter(effort))
    return answer.placements if isinstance(answer, MemoryPlan) else None


class _Trials:
    """Trials that end together when their part of a budget in time is spent."""

    def __init__(self, seconds: float) -> None:
        self._end = monotonic() + seconds

    @property
    def over(self) -> bool:
        """Whether it is time to be content with what was found."""
        return monotonic() >= self._end

    def __call__(self, problem: Problem) -> Mapping[str, Placement] | None:
        """Return a plan of a problem, None if none was found in time."""
        left = max(0.0, self._end - monotonic())
        return _trial(problem, effort=replace(_TRIAL, seconds=left))
