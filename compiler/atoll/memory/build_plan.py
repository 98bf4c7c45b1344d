# SPDX-License-Identifier: Apache-2.0
"""From pools and offsets of buffers to a plan, with what it makes of each pool."""

from collections import defaultdict
from collections.abc import Mapping

from atoll.memory.conflicts import ConflictGraph
from atoll.memory.greedy import Places
from atoll.memory.packing import Packing
from atoll.memory.problem import MemoryPlan, Placement, PoolUse

Homes = Mapping[int, str]
"""Pool by number of the buffer."""


def packings(graph: ConflictGraph, homes: Homes) -> Mapping[str, Packing]:
    """Return what each pool has to hold, by its name."""
    members: dict[str, list[int]] = defaultdict(list)
    for number, pool in sorted(homes.items()):
        members[pool].append(number)
    return {
        pool.name: Packing(graph, pool, tuple(members[pool.name])) for pool in graph.problem.pools
    }


def build_plan(
    graph: ConflictGraph,
    places: Places,
    algorithm: str,
    bounds: Mapping[str, int] | None = None,
    cost_bound: int = 0,
) -> MemoryPlan:
    """Make the plan.

    Args:
        graph: the problem.
        places: pool and offset of every buffer.
        algorithm: who found them.
        bounds: what each pool is known to need, if more is known than follows from the problem.
        cost_bound: what every plan is known to cost, likewise.
    """
    inside = packings(graph, {number: pool for number, (pool, _) in places.items()})
    use = {}
    for name, packing in inside.items():
        used = packing.highest_end({member: places[member][1] for member in packing.members})
        bound = packing.bound if bounds is None else bounds[name]
        use[name] = PoolUse(size=packing.pool.size, used=used, peak=packing.heaviest, bound=bound)
    placed = {}
    for number, buffer in enumerate(graph.buffers):
        pool, offset = places[number]
        placed[buffer.name] = Placement(buffer=buffer.name, pool=pool, offset=offset)
    return MemoryPlan(
        problem=graph.problem,
        placements=placed,
        use=use,
        cost=sum(buffer.cost(placed[buffer.name].pool) for buffer in graph.buffers),
        cost_bound=cost_bound,
        algorithm=algorithm,
    )
