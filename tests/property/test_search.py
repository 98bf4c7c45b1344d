# SPDX-License-Identifier: Apache-2.0
"""The exact search in Python and as machine code: the same nodes, depth, verdict and offsets."""

import random
from collections.abc import Iterator

import pytest
from benchmarks.random_cuts import random_cuts
from tests.effort import cases
from tests.property.test_planners import rich_problem

from atoll.memory import search
from atoll.memory.conflicts import conflict_graph
from atoll.memory.effort import Effort
from atoll.memory.packing import Packing
from atoll.memory.portfolio import Portfolio
from atoll.memory.problem import MemoryPlan
from atoll.memory.search_native import NativeSearch, machine_code
from atoll.memory.search_python import PythonSearch
from atoll.memory.search_tables import Status, Strategy, tables_of
from atoll.memory.solve import solve


def packing_of(seed: int) -> Packing:
    """Return a random pool with all that may be in it."""
    rng = random.Random(seed)
    problem = rich_problem(rng, rng.randrange(5, 30), rng.choice((1, 8)))
    graph, pool = conflict_graph(problem), problem.pools[0]
    inside = (n for n, buffer in enumerate(problem.buffers) if pool.name in buffer.pools)
    return Packing(graph, pool, tuple(inside))


def strategies(packing: Packing, seed: int) -> Iterator[tuple[int, Strategy]]:
    """Yield capacities from hopeless to ample, each with another strategy."""
    portfolio = Portfolio(packing, seed)
    for capacity in (20, packing.bound, packing.bound + 8, 160):
        yield capacity, portfolio.next()
        portfolio.report(capacity % 7, solved=capacity % 5 == 0)


def assert_same(seeds: range) -> None:
    library, verdicts = machine_code(), set()
    assert library is not None
    for seed in seeds:
        packing = packing_of(seed)
        tables = tables_of(packing)
        native = NativeSearch(tables, library)
        for capacity, strategy in strategies(packing, seed) if packing.members else ():
            found = PythonSearch(tables, capacity, strategy).run(lambda done: max(0, 300 - done))
            slices = native.run(capacity, strategy, lambda done: max(0, min(37, 300 - done)))
            assert found == slices, seed
            verdicts.add((found.status, found.nodes > 20))
    assert verdicts >= {(status, True) for status in Status}


def test_both_searches_take_the_same_nodes_and_find_the_same() -> None:
    assert_same(range(cases(300)))


@pytest.mark.slow
def test_both_searches_are_the_same_on_many_problems() -> None:
    assert_same(range(300, 10_000))


def test_a_plan_is_the_same_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = [random_cuts(50, 1 << 12, 0.5, random.Random(seed), slack=1.0) for seed in range(3)]
    problems = [*cuts, *(rich_problem(random.Random(seed), 25, 8) for seed in range(20))]
    effort = Effort(nodes=3_000)
    answers = [solve(problem, effort=effort) for problem in problems]
    monkeypatch.setattr(search, "machine_code", lambda: None)
    again = [solve(problem, effort=effort) for problem in problems]
    assert answers == again
    assert sum(isinstance(answer, MemoryPlan) for answer in answers) > 10
