# SPDX-License-Identifier: Apache-2.0
"""Which buffers are named where there is no plan: too many, and not one of them too many."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.effort import cases

from atoll.diagnostics.errors import Fault, PlanError
from atoll.memory import solve as memory_solve
from atoll.memory.algorithms import PLANNERS
from atoll.memory.effort import Effort, Meter
from atoll.memory.explain import explain, fewest
from atoll.memory.problem import (
    Answer,
    Buffer,
    Infeasible,
    MemoryPlan,
    Overlap,
    Placement,
    PoolSpace,
    Problem,
)
from atoll.memory.solve import crowded_pools, plan_memory, refusal_of, solve

TRIALS = cases(300)

POOL = PoolSpace(name="s", origin=4, size=10, alignment=1)
"""Only one offset of it is a multiple of 8 as an address: 4."""


def buffer(name: str, size: int, live: tuple[int, int], alignment: int = 1) -> Buffer:
    return Buffer(name=name, size=size, alignment=alignment, live=(live,), pools=("s",))


def explained(problem: Problem) -> Answer:
    """Return the answer, with the buffers to blame as the message has them."""
    answer = solve(problem)
    return fewest(answer, PLANNERS.get("exact")) if isinstance(answer, Infeasible) else answer


def test_m5_only_buffers_that_are_to_blame_are_named() -> None:
    crowd = [buffer(f"x{number}", 1, (3, 6)) for number in range(10)]
    pair = buffer("wide", 5, (0, 2)), buffer("aligned", 2, (1, 3), 8)
    answer = explained(Problem(pools=(POOL,), buffers=(*crowd, *pair)))
    assert isinstance(answer, Infeasible)
    assert answer.proven
    assert answer.buffers == ("wide", "aligned")


def test_m5_the_message_lists_those_to_blame_if_no_crowd_is() -> None:
    crowd = [buffer(f"x{number}", 1, (6, 8)) for number in range(10)]
    chain = (
        buffer("early", 5, (0, 2)),
        buffer("between", 5, (1, 4), 2),
        buffer("late", 3, (3, 5), 4),
    )
    with pytest.raises(PlanError) as caught:
        plan_memory(Problem(pools=(POOL,), buffers=(*crowd, *chain)))
    assert "10 B available, 1 B missing; at step 1 10 B are live" in str(caught.value)
    assert (
        "these have no plan even without the others: 'early' 5 B, 'between' 5 B, 'late' 3 B\n"
    ) in str(caught.value)


def test_nothing_is_explained_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explaining takes many searches, and a network that is cut to fit discards many errors."""
    asked: list[Problem] = []

    def explain(problem: Problem, *others: object, proven: bool) -> Iterator[Fault]:
        asked.append(problem)
        yield Fault(code="E062", message="it is too small")

    monkeypatch.setattr("atoll.memory.solve.explain", explain)
    problem = Problem(pools=(POOL,), buffers=(buffer("wide", 11, (0, 1)),))
    with pytest.raises(PlanError) as caught:
        plan_memory(problem)
    assert asked == []
    assert [str(caught.value), str(caught.value)] == ["error[E062]: it is too small"] * 2
    assert asked == [problem]


@pytest.mark.parametrize("proven", [False, True])
def test_m5_only_a_proof_acquits_a_buffer(proven: bool) -> None:
    buffers = tuple(buffer(name, 6, (0, 2)) for name in "abc")
    problem = Problem(pools=(POOL,), buffers=buffers)

    def never(part: Problem, meter: Meter) -> Infeasible:
        names = tuple(each.name for each in part.buffers)
        return Infeasible(problem=part, buffers=names, proven=proven)

    found = fewest(Infeasible(problem=problem, buffers=("a", "b", "c"), proven=True), never)
    assert found.buffers == (("c",) if proven else ("a", "b", "c"))


def random_problem(rng: random.Random) -> Problem:
    """Make a problem that is too large, with alignments and results over operands now and then."""
    buffers = []
    for number in range(rng.randrange(4, 12)):
        begin, end = sorted(rng.sample(range(8), 2))
        alignment = rng.choice((2, 4, 8)) if rng.random() < 0.4 else 1
        buffers.append(buffer(f"b{number}", rng.randrange(1, 6), (begin, end), alignment))
    overlaps = tuple(
        Overlap(later=later.name, earlier=earlier.name, distance=rng.randrange(3))
        for earlier, later in pairwise(buffers)
        if rng.random() < 0.2
    )
    return Problem(pools=(POOL,), buffers=tuple(buffers), overlaps=overlaps)


def test_which_pools_are_too_small_is_known_without_how_small() -> None:
    """Cuts of a network ask for that alone; the sizes of the error take many searches."""
    counts: Counter[int] = Counter()
    for seed in range(TRIALS):
        drawn = random.Random(seed)
        problem = random_problem(drawn)
        pools = (POOL, replace(POOL, name="t", origin=64, size=8))
        either = (("s",), ("t",), ("s", "t"), ("t", "s"))
        buffers = (replace(each, pools=drawn.choice(either)) for each in problem.buffers)
        answer = solve(replace(problem, pools=pools, buffers=tuple(buffers)))
        found = crowded_pools(answer) if isinstance(answer, Infeasible) else None
        if found is not None:
            assert isinstance(answer, Infeasible)
            wants = refusal_of(answer).wants
            assert {f"pools.{name}.size" for name in found} == wants.keys(), seed
            counts[len(found)] += 1
    assert counts[1] > TRIALS // 6
    assert counts[2] > 0


def part(problem: Problem, names: set[str]) -> Problem:
    return Problem(
        pools=problem.pools,
        buffers=tuple(each for each in problem.buffers if each.name in names),
        overlaps=tuple(each for each in problem.overlaps if {each.later, each.earlier} <= names),
    )


def test_m5_without_any_of_those_to_blame_there_is_a_plan() -> None:
    looked_at = 0
    for seed in range(TRIALS):
        problem = random_problem(random.Random(seed))
        answer = explained(problem)
        if isinstance(answer, MemoryPlan):
            continue
        looked_at += 1
        names = set(answer.buffers)
        assert answer.proven, seed
        assert isinstance(solve(part(problem, names)), Infeasible), seed
        for name in names if len(names) > 1 else ():
            assert isinstance(solve(part(problem, names - {name})), MemoryPlan), (seed, name)
    assert looked_at > TRIALS // 6


def packed(gap: int) -> Callable[[Problem], Mapping[str, Placement] | None]:
    """Return a planner that leaves a gap between buffers."""

    def search(problem: Problem) -> Mapping[str, Placement] | None:
        at, placements = 0, {}
        for each in problem.buffers:
            placements[each.name] = Placement(buffer=each.name, pool="s", offset=at)
            at += each.size + gap
        return placements if at - gap <= problem.pools[0].size else None

    return search


def pair(size: int) -> Problem:
    """Return two buffers of 10 bytes that are live at once, in a pool of `size`."""
    pool = PoolSpace(name="s", origin=0, size=size, alignment=1)
    return Problem(pools=(pool,), buffers=(buffer("a", 10, (0, 2)), buffer("b", 10, (1, 3))))


def test_a_search_that_gave_up_is_not_told_as_a_need() -> None:
    (fault,) = explain(pair(20), (), packed(0), proven=False)
    assert "found no plan, and there is one: another search found it at 20 B" in fault.message
    assert fault.remedy == "search longer with --budget, or with --algorithm auto"
    assert "needed" not in fault.message


def test_what_is_found_is_not_what_is_needed() -> None:
    (fault,) = explain(pair(15), (), packed(8), proven=False)
    assert fault.message.startswith(
        "no plan was found: whether pool 's' is too small is not known; "
        "a plan was found at 28 B, 20 B are the proven least, 15 B available; "
    )
    (sure,) = explain(pair(15), (), packed(8))
    assert sure.message.startswith("pool 's' is too small: a plan was found at 28 B, 20 B are the")
    (exact,) = explain(pair(15), (), packed(0), proven=False)
    assert exact.message.startswith("pool 's' is too small: 20 B needed, 15 B available, 5 B mis")


def test_m5_a_pool_that_touches_the_next_may_grow() -> None:
    pools = tuple(
        PoolSpace(name=each, origin=at, size=8, alignment=1) for each, at in (("a", 0), ("b", 8))
    )
    buffers = tuple(
        Buffer(name=name, size=8, alignment=1, live=((0, 2),), pools=(pool,))
        for name, pool in (("p", "a"), ("q", "a"), ("r", "b"))
    )
    with pytest.raises(PlanError) as caught:
        plan_memory(Problem(pools=pools, buffers=buffers))
    assert caught.value.code == "E062"
    assert caught.value.wants == {"pools.a.size": 16}


def test_m5_trials_end_with_their_part_of_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the time is up, the first plan in a larger pool is told, and what is proven."""
    chance = random.Random(3)
    begins = [chance.randrange(60) for _ in range(80)]
    buffers = tuple(
        buffer(f"x{n}", chance.randrange(1, 900), (at, at + chance.randrange(1, 20)))
        for n, at in enumerate(begins)
    )
    wide = Problem(pools=(replace(POOL, size=1 << 40, origin=0),), buffers=buffers)
    found = plan_memory(wide)
    tight = replace(wide, pools=(replace(POOL, size=found.use["s"].used - 1, origin=0),))
    asked: list[Problem] = []
    trial = memory_solve._trial

    def count(problem: Problem, **given: Any) -> Mapping[str, Placement] | None:
        asked.append(problem)
        return trial(problem, **given)

    monkeypatch.setattr(memory_solve, "_trial", count)
    answer = Infeasible(problem=tight, buffers=(), proven=False)
    (fault,) = refusal_of(answer, effort=Effort(seconds=0.0)).faults
    assert "whether pool 's' is too small is not known; a plan was found at" in fault.message
    assert len(asked) == 2, "one in a larger pool, and the plan that was found there"
    (fault,) = refusal_of(answer, effort=Effort(seconds=None)).faults
    assert len(asked) > 3, "this one goes on"
