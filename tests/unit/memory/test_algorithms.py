# SPDX-License-Identifier: Apache-2.0
"""Algorithms by name, third parties' among them; effort, progress, and the same plan each time."""

from dataclasses import replace
from random import Random

import pytest
from benchmarks.random_cuts import random_cuts

from atoll.diagnostics.errors import AtollError, PlanError, UsageError
from atoll.memory import pack
from atoll.memory.algorithms import PLANNERS
from atoll.memory.build_plan import build_plan
from atoll.memory.conflicts import conflict_graph
from atoll.memory.effort import Effort, Meter, Progress
from atoll.memory.problem import Answer, Buffer, Infeasible, MemoryPlan, PoolSpace, Problem
from atoll.memory.solve import plan_memory, solve
from atoll.plugins import loading as plugins
from atoll.plugins import registry

PROBLEM = Problem(
    pools=(PoolSpace(name="s", origin=0, size=100, alignment=1),),
    buffers=tuple(
        Buffer(name=name, size=10, alignment=1, live=((0, 2),), pools=("s",)) for name in "ab"
    ),
)


def stacked(problem: Problem, meter: Meter) -> Answer:
    """Put every buffer on top of the one before."""
    return build_plan(conflict_graph(problem), {0: ("s", 0), 1: ("s", 20)}, "stacked")


def on_one_spot(problem: Problem, meter: Meter) -> Answer:
    return build_plan(conflict_graph(problem), {0: ("s", 0), 1: ("s", 5)}, "on one spot")


def silent(problem: Problem, meter: Meter) -> None:
    return None


def elsewhere(problem: Problem, meter: Meter) -> Answer:
    """Answer another problem than the one that was asked."""
    return stacked(replace(problem, buffers=problem.buffers[::-1]), meter)


PLANTED = (stacked, on_one_spot, silent, elsewhere)


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"stacked": "stacked", "wrong": "on_one_spot", "gone": "nothing"}
    points |= {"silent": "silent", "elsewhere": "elsewhere"}
    theirs = {name: f"{__name__}:{value}" for name, value in points.items()}
    monkeypatch.setattr(registry, "entries_in", lambda group: theirs)
    parts = {f"{__name__}:{each.__name__}": each for each in PLANTED}
    real = plugins.load
    monkeypatch.setattr(
        plugins, "load", lambda entry, group="": parts.get(entry) or real(entry, group)
    )


@pytest.mark.usefixtures("third_party")
def test_a_third_partys_algorithm_is_there_by_name() -> None:
    answer = solve(PROBLEM, name="stacked")
    assert isinstance(answer, MemoryPlan)
    assert answer.use["s"].used == 30
    assert not answer.optimal
    assert PLANNERS.names()[0] == "auto"
    assert "stacked" in PLANNERS.names()


@pytest.mark.usefixtures("third_party")
def test_m3_a_third_partys_wrong_plan_is_refused() -> None:
    with pytest.raises(PlanError, match="two buffers share bytes"):
        solve(PROBLEM, name="wrong")


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize("name", ["silent", "elsewhere"])
def test_what_is_no_answer_to_the_problem_is_refused(name: str) -> None:
    with pytest.raises(AtollError) as caught:
        plan_memory(PROBLEM, name=name)
    (fault,) = caught.value.faults
    assert fault.code == "E112"
    assert fault.message.startswith(f"planning algorithm '{name}' returned ")


@pytest.mark.usefixtures("third_party")
def test_an_algorithm_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(AtollError, match=r"cannot load .*nothing"):
        solve(PROBLEM, name="gone")


def test_an_unknown_algorithm_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(UsageError) as caught:
        solve(PROBLEM, name="best")
    assert str(caught.value) == (
        "error[E094]: no planning algorithm 'best'\n"
        "  help: use one of auto, exact, first-fit, greedy-by-conflicts, greedy-by-size, hill-climb"
    )


def test_a_problem_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(PlanError, match="two pools or two buffers of the problem have one name"):
        plan_memory(Problem(pools=PROBLEM.pools, buffers=PROBLEM.buffers * 2))


def hard(seed: int) -> Problem:
    return random_cuts(300, 1 << 20, 0.5, Random(seed), slack=2.0)


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    one, other = (solve(hard(2), effort=Effort(nodes=20_000, seed=5)) for _ in range(2))
    assert isinstance(one, MemoryPlan)
    assert isinstance(other, MemoryPlan)
    assert one.placements == other.placements


def test_time_is_kept_and_the_best_plan_so_far_is_returned() -> None:
    heard: list[Progress] = []
    effort = Effort(nodes=1 << 40, seconds=1.5)
    answer = solve(hard(3), effort=effort, observe=heard.append)
    assert isinstance(answer, MemoryPlan)
    assert heard
    assert [each.used for each in heard] == sorted((each.used for each in heard), reverse=True)
    assert answer.use["s"].used == heard[-1].used
    assert heard[-1].seconds < 5


def test_what_is_too_large_for_exact_search_is_not_proven_to_have_no_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_cuts(60, 1 << 20, 0.5, Random(1))
    assert isinstance(solve(problem, name="exact"), MemoryPlan)
    monkeypatch.setattr(pack, "LARGEST", 1)
    answer = solve(problem, name="exact")
    assert isinstance(answer, Infeasible)
    assert not answer.proven
