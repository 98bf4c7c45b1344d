# SPDX-License-Identifier: Apache-2.0
"""The planning algorithms by name; packages add theirs with entry points.

An algorithm takes a well-formed problem and a meter, and returns an answer, which `solve` has
checked. The entry points of third parties are in the group ``atoll.planners``.
"""

from collections.abc import Callable, Sequence
from functools import partial

from atoll.memory.auto import plan_auto
from atoll.memory.build_plan import build_plan
from atoll.memory.conflicts import conflict_graph
from atoll.memory.effort import Meter
from atoll.memory.greedy import BY_CONFLICTS, BY_SIZE, ORDERS, Order, orders, place_with_repairs
from atoll.memory.hill_climb import climb
from atoll.memory.problem import Answer, Infeasible, Problem
from atoll.plugins.registry import Registry

DEFAULT = "auto"

Algorithm = Callable[[Problem, Meter], Answer]


def hill_climb(problem: Problem, meter: Meter) -> Answer:
    """Change a greedy order step by step."""
    graph = conflict_graph(problem)
    places = climb(graph, dict(enumerate(graph.pools)), meter)
    return _nothing(problem) if places is None else build_plan(graph, places, "hill-climb")


def _greedy(problem: Problem, meter: Meter, *, keys: Sequence[Order], name: str) -> Answer:
    """Take the best of some greedy orders."""
    graph = conflict_graph(problem)
    found = (place_with_repairs(graph, order) for order in orders(graph, keys))
    plans = (build_plan(graph, places, name) for places in found if places is not None)
    return min(plans, key=lambda plan: (plan.cost, plan.gap), default=_nothing(problem))


def _nothing(problem: Problem) -> Infeasible:
    names = tuple(buffer.name for buffer in problem.buffers)
    return Infeasible(problem=problem, buffers=names, proven=False)


first_fit = partial(_greedy, keys=ORDERS, name="first-fit")
greedy_by_conflicts = partial(_greedy, keys=(BY_CONFLICTS,), name="greedy-by-conflicts")
greedy_by_size = partial(_greedy, keys=(BY_SIZE,), name="greedy-by-size")
exact = partial(plan_auto, name="exact", climbing=False)

PLANNERS: Registry[Algorithm] = Registry(
    group="atoll.planners",
    noun="planning algorithm",
    own={
        "auto": "atoll.memory.auto:plan_auto",
        "exact": "atoll.memory.algorithms:exact",
        "first-fit": "atoll.memory.algorithms:first_fit",
        "greedy-by-conflicts": "atoll.memory.algorithms:greedy_by_conflicts",
        "greedy-by-size": "atoll.memory.algorithms:greedy_by_size",
        "hill-climb": "atoll.memory.algorithms:hill_climb",
    },
    interface=("problem", "meter"),
)
"""All algorithms, the default first."""
