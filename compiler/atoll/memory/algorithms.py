"""The planning algorithms by name; packages add theirs with entry points.

An algorithm takes a well-formed problem and a meter, and returns an answer, which `solve` has
checked. The entry points of third parties are in the group ``atoll.planners``.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import entry_points

from atoll import plugins
from atoll.errors import UsageError
from atoll.memory.auto import plan_auto
from atoll.memory.build_plan import build_plan
from atoll.memory.conflicts import conflict_graph
from atoll.memory.effort import Meter
from atoll.memory.greedy import BY_CONFLICTS, BY_SIZE, ORDERS, Order, orders, repaired
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


def _hill_climb(problem: Problem, meter: Meter) -> Answer:
    """Change a greedy order step by step."""
    graph = conflict_graph(problem)
    places = climb(graph, dict(enumerate(graph.pools)), meter)
    return _nothing(problem) if places is None else build_plan(graph, places, "hill-climb")


def _greedy(problem: Problem, meter: Meter, *, keys: Sequence[Order], name: str) -> Answer:
    """Take the best of some greedy orders."""
    graph = conflict_graph(problem)
    found = (repaired(graph, order) for order in orders(graph, keys))
    plans = (build_plan(graph, places, name) for places in found if places is not None)
    return min(plans, key=lambda plan: (plan.cost, plan.gap), default=_nothing(problem))


def _nothing(problem: Problem) -> Infeasible:
    names = tuple(buffer.name for buffer in problem.buffers)
    return Infeasible(problem=problem, buffers=names, proven=False)


OWN: Mapping[str, Algorithm] = {
    "auto": plan_auto,
    "exact": partial(plan_auto, name="exact", climbing=False),
    "first-fit": partial(_greedy, keys=ORDERS, name="first-fit"),
    "greedy-by-conflicts": partial(_greedy, keys=(BY_CONFLICTS,), name="greedy-by-conflicts"),
    "greedy-by-size": partial(_greedy, keys=(BY_SIZE,), name="greedy-by-size"),
    "hill-climb": _hill_climb,
}
"""Atoll's own algorithms."""
