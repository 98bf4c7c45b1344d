"""From offsets of blocks to plans of buffers."""

from collections import defaultdict
from collections.abc import Mapping

from atoll.memory.assignment import Homes
from atoll.memory.blocks import Blocks
from atoll.memory.greedy import Places
from atoll.memory.packing import Packing
from atoll.memory.packing_bound import heaviest, packing_bound
from atoll.memory.problem import MemoryPlan, Placement, PoolUse


def packings(whole: Blocks, homes: Homes) -> Mapping[str, Packing]:
    """Return what each pool has to hold, by its name."""
    members: dict[str, list[int]] = defaultdict(list)
    for block, pool in sorted(homes.items()):
        members[pool].append(block)
    return {
        pool.name: Packing(whole, pool, tuple(members[pool.name])) for pool in whole.problem.pools
    }


def plan_of(
    whole: Blocks,
    places: Places,
    algorithm: str,
    bounds: Mapping[str, int] | None = None,
    cost_bound: int | None = None,
) -> MemoryPlan:
    """Make the plan.

    Args:
        whole: the problem.
        places: pool and offset of every block.
        algorithm: who found them.
        bounds: what each pool is known to need, if more is known than follows from the problem.
        cost_bound: what every plan is known to cost, likewise.
    """
    problem = whole.problem
    placed = {
        name: Placement(buffer=name, pool=places[number][0], offset=places[number][1])
        for number, block in enumerate(whole.blocks)
        for name in block.names
    }
    inside = packings(whole, {block: pool for block, (pool, _) in places.items()})
    return MemoryPlan(
        problem=problem,
        placements={buffer.name: placed[buffer.name] for buffer in problem.buffers},
        use={
            name: _use(packing, places, (bounds or {}).get(name))
            for name, packing in inside.items()
        },
        cost=sum(buffer.cost(placed[buffer.name].pool) for buffer in problem.buffers),
        cost_bound=_least_cost(whole) if cost_bound is None else cost_bound,
        algorithm=algorithm,
    )


def _use(packing: Packing, places: Places, bound: int | None) -> PoolUse:
    blocks = packing.whole.blocks
    used = max((places[m][1] + blocks[m].size for m in packing.members), default=0)
    if bound is None:
        bound = packing_bound(packing)
    return PoolUse(size=packing.pool.size, used=used, peak=heaviest(packing), bound=bound)


def _least_cost(whole: Blocks) -> int:
    return sum(min(cost for cost, _ in block.costs) for block in whole.blocks)
