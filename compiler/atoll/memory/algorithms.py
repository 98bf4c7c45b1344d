"""The planning algorithms by name; packages add theirs with entry points.

An algorithm takes a well-formed problem and a meter, and returns an answer, which `solve` has
checked. The entry points of third parties are in the group ``atoll.planners``.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from atoll import plugins
from atoll.errors import UsageError
from atoll.memory.auto import plan_auto
from atoll.memory.build_plan import build_plan
from atoll.memory.conflicts import ConflictGraph, conflict_graph
from atoll.memory.effort import Meter
from atoll.memory.greedy import BY_CONFLICTS, BY_SIZE, ORDERS, Order, Places, orders, repaired
from atoll.memory.hill_climb import climb
from atoll.memory.problem import Answer, Infeasible, Problem

GROUP = "atoll.planners"
DEFAULT = "auto"

Algorithm = Callable[[Problem, Meter], Answer]


def algorithm(name: str) -> Algorithm:
    """Return an algorithm.

    Raises:
        UsageError: E094; there is none of that name.
        AtollError: E041; a third party's cannot be loaded.
    """
    if name in OWN:
        return OWN[name]
    for point in entry_points(group=GROUP):
        if point.name == name:
            loaded: Algorithm = plugins.load(point.value, GROUP)
            return loaded
    raise UsageError(
        "E094",
        f"no planning algorithm '{name}'",
        remedy=f"use one of {', '.join(algorithm_names())}",
    )


def algorithm_names() -> tuple[str, ...]:
    """Return the names of all algorithms, the default first."""
    others = (point.name for point in entry_points(group=GROUP))
    return tuple(dict.fromkeys((*OWN, *sorted(others))))


def _auto(problem: Problem, meter: Meter) -> Answer:
    """Choose homes by cost and pack every pool, greedily, by exact search or by climbing."""
    return plan_auto(problem, meter)


def _exact(problem: Problem, meter: Meter) -> Answer:
    """Choose homes by cost and pack every pool by exact search."""
    return plan_auto(problem, meter, "exact", climbing=False)


def _hill_climb(problem: Problem, meter: Meter) -> Answer:
    """Change a greedy order step by step."""
    graph = conflict_graph(problem)
    return _answer(graph, climb(graph, dict(enumerate(graph.pools)), meter), "hill-climb")


def _first_fit(problem: Problem, meter: Meter) -> Answer:
    """Take the best of several greedy orders."""
    return _best_order(problem, ORDERS, "first-fit")


def _by_size(problem: Problem, meter: Meter) -> Answer:
    """Place the largest buffers first."""
    return _best_order(problem, (BY_SIZE,), "greedy-by-size")


def _by_conflicts(problem: Problem, meter: Meter) -> Answer:
    """Place the buffers with the most conflicts first."""
    return _best_order(problem, (BY_CONFLICTS,), "greedy-by-conflicts")


def _best_order(problem: Problem, keys: tuple[Order, ...], name: str) -> Answer:
    graph = conflict_graph(problem)
    found = (repaired(graph, order) for order in orders(graph, keys))
    plans = [build_plan(graph, places, name) for places in found if places is not None]
    best = min(plans, key=lambda plan: (plan.cost, plan.gap), default=None)
    return best or _answer(graph, None, name)


def _answer(graph: ConflictGraph, places: Places | None, name: str) -> Answer:
    if places is not None:
        return build_plan(graph, places, name)
    names = tuple(buffer.name for buffer in graph.buffers)
    return Infeasible(problem=graph.problem, buffers=names, proven=False)


OWN: Mapping[str, Algorithm] = {
    "auto": _auto,
    "exact": _exact,
    "first-fit": _first_fit,
    "greedy-by-conflicts": _by_conflicts,
    "greedy-by-size": _by_size,
    "hill-climb": _hill_climb,
}
"""Atoll's own algorithms."""
