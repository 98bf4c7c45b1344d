"""A memory plan as data for machines."""

from atoll.memory.problem import MemoryPlan


def plan_json(plan: MemoryPlan) -> dict[str, object]:
    """Return the plan for machines: pools with their use, buffers with place and lifetime."""
    buffers = {buffer.name: buffer for buffer in plan.problem.buffers}
    return {
        "pools": {
            pool.name: {
                "origin": f"{pool.origin:#010x}",
                "size": pool.size,
                "used": plan.use[pool.name].used,
                "peak": plan.use[pool.name].peak,
                "bound": plan.use[pool.name].bound,
            }
            for pool in plan.problem.pools
        },
        "buffers": {
            name: {
                "pool": placement.pool,
                "offset": placement.offset,
                "address": f"{plan.address(name):#010x}",
                "size": buffers[name].size,
                "alignment": buffers[name].alignment,
                "live": [list(interval) for interval in buffers[name].live],
                "candidates": list(buffers[name].pools),
            }
            for name, placement in sorted(plan.placements.items())
        },
    }
