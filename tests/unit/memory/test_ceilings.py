# SPDX-License-Identifier: Apache-2.0
"""Buffers that end below a ceiling: a plan is found where trying all offsets finds one."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from random import Random

import pytest
from tests.effort import cases

from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.ceiling import Ceiling
from atoll.memory import search
from atoll.memory.problem import Buffer, Infeasible, MemoryPlan, PoolSpace, Problem
from atoll.memory.solve import plan_memory, refusal_of, solve

POOLS = tuple(
    PoolSpace(name=name, origin=origin, size=9, alignment=1)
    for name, origin in (("near", 0), ("far", 16))
)


def problem_of(chance: Random) -> Problem:
    return Problem(pools=POOLS, buffers=tuple(map(buffer_of, range(5), [chance] * 5)))


def buffer_of(number: int, chance: Random) -> Buffer:
    begin = chance.randrange(4)
    pools = chance.choice((("near",), ("near", "far")))
    size = chance.randint(1, 5)
    tops = (Ceiling(pool=pool, size=chance.randint(size - 1, 9)) for pool in pools)
    return Buffer(
        name=f"b{number}",
        size=size,
        alignment=chance.choice((1, 1, 2)),
        live=((begin, chance.randint(begin + 1, 4)),),
        pools=pools,
        ceilings=tuple(top for top in tops if chance.random() < 0.6),
    )


def by_hand(problem: Problem, placed: Mapping[str, tuple[str, int]] | None = None) -> bool:
    """Tell whether some plan exists: all pools and offsets of one buffer after the other."""
    placed = placed or {}
    if len(placed) == len(problem.buffers):
        return True
    buffer = problem.buffers[len(placed)]
    return any(
        by_hand(problem, {**placed, buffer.name: place})
        for place in places_of(buffer)
        if not any(
            place[0] == pool
            and max(place[1], offset) < min(place[1] + buffer.size, offset + other.size)
            and max(buffer.live[0][0], other.live[0][0]) < min(buffer.live[0][1], other.live[0][1])
            for other, (pool, offset) in zip(problem.buffers, placed.values(), strict=False)
        )
    )


def places_of(buffer: Buffer) -> Iterator[tuple[str, int]]:
    for pool in buffer.pools:
        top = min([9, *(each.size for each in buffer.ceilings if each.pool == pool)])
        yield from ((pool, at) for at in range(0, top - buffer.size + 1, buffer.alignment))


@pytest.mark.parametrize("cold", [400, 0], ids=["python", "native"])
def test_m7_u3_a_plan_below_ceilings_is_found_where_there_is_one(
    cold: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_COLD", cold)
    possible = 0
    for seed in range(250):
        problem = problem_of(Random(seed))
        expected, answer = by_hand(problem), solve(problem)
        possible += expected
        assert isinstance(answer, MemoryPlan) is expected, seed
        assert isinstance(answer, MemoryPlan) or answer.proven, seed
    assert 50 < possible < 200


@pytest.mark.parametrize("name", ["first-fit", "hill-climb", "greedy-by-size"])
def test_other_algorithms_keep_to_ceilings(name: str) -> None:
    answers = [solve(problem_of(Random(seed)), name=name) for seed in range(60)]
    assert sum(isinstance(each, MemoryPlan) for each in answers) > 10
    assert all(not each.proven for each in answers if isinstance(each, Infeasible))


def test_a_ceiling_that_leaves_no_room_is_raised_as_little_as_helps() -> None:
    low = Ceiling(pool="near", size=4, asked="pin 'near@4B'")
    held = Ceiling(pool="near", size=3, asked="pin 'near@3B'")
    first = Buffer(name="a", size=3, alignment=1, live=((0, 1),), pools=("near",), ceilings=(held,))
    second = Buffer(name="b", size=2, alignment=1, live=((0, 1),), pools=("near",), ceilings=(low,))
    with pytest.raises(PlanError) as error:
        plan_memory(Problem(pools=POOLS, buffers=(first, second)))
    (fault,) = error.value.faults
    assert fault.code == "E206"
    assert fault.message.startswith("pin 'near@4B' lets buffer 'b' (2 B) lie in the first 4 B")
    assert fault.remedy == (
        "either raise the size hint to 5 B, or that of pin 'near@3B' in pool 'near' to 5 B"
    )


def test_of_several_remedies_one_is_enough_or_all_are_needed() -> None:
    """Each alternative of a message helps alone; of several messages no remedy is left out."""
    kinds: Counter[str] = Counter()
    for seed in range(cases(400, 80)):
        problem = _named(problem_of(Random(seed)))
        with suppress(PlanError):
            plan_memory(problem)
            continue
        answer = solve(problem)
        assert isinstance(answer, Infeasible)
        error = refusal_of(answer)
        if "[E206]" not in str(error):
            continue
        either, *_ = found = [_raised(problem, each) for each in error.faults]
        if len(found) == 1:
            kinds["either" if len(either) > 1 else "one"] += 1
            assert all(_has_plan(problem, [each]) for each in either), seed
            continue
        kinds["all"] += 1
        together = [each for (each,) in found]
        assert _has_plan(problem, together), seed
        assert all("those of the other messages" in (each.remedy or "") for each in error.faults)
        for each in together:
            assert not _has_plan(problem, [one for one in together if one != each]), seed
    assert min(kinds[each] for each in ("one", "either", "all")) > 0


def _named(problem: Problem) -> Problem:
    """Return a problem of room for all without ceilings, each of which has a name of its own."""
    pools = tuple(replace(each, origin=64 * at, size=32) for at, each in enumerate(problem.pools))
    buffers = (
        replace(one, ceilings=tuple(replace(c, asked=f"{one.name}.{c.pool}") for c in one.ceilings))
        for one in problem.buffers
    )
    return replace(problem, pools=pools, buffers=tuple(buffers))


def _raised(problem: Problem, fault: Fault) -> list[tuple[Ceiling, int]]:
    """Return which ceilings the remedy of a message raises to what, one alternative each."""
    ceilings = {each.asked: each for one in problem.buffers for each in one.ceilings}
    first, *others = re.findall(
        r"(?:that of (\S+) in pool '\w+'|hint) to (\d+) B", fault.remedy or ""
    )
    own = ceilings[fault.message.split()[0]]
    return [(own, int(first[1])), *((ceilings[name], int(end)) for name, end in others)]


def _has_plan(problem: Problem, raised: Sequence[tuple[Ceiling, int]]) -> bool:
    heights = dict(raised)
    buffers = (
        replace(one, ceilings=tuple(replace(c, size=heights.get(c, c.size)) for c in one.ceilings))
        for one in problem.buffers
    )
    return isinstance(solve(replace(problem, buffers=tuple(buffers))), MemoryPlan)
