# SPDX-License-Identifier: Apache-2.0
"""A memory plan as data for machines."""

from atoll.memory.problem import MemoryPlan


def plan_json(plan: MemoryPlan) -> dict[str, object]:
    """Return the plan for machines: pools with their use, buffers with place and lifetime."""
    buffers = {buffer.name: buffer for buffer in plan.problem.buffers}
    return {
        "pools": {
            pool.name: {"origin": pool.origin, **plan.use[pool.name].as_json()}
            for pool in plan.problem.pools
        },
        "buffers": {
            name: {
                "pool": placement.pool,
                "offset_bytes": placement.offset,
                "address": plan.address(name),
                "size_bytes": buffers[name].size,
                "alignment_bytes": buffers[name].alignment,
                "live_steps": [list(interval) for interval in buffers[name].live],
                "candidates": list(buffers[name].pools),
            }
            for name, placement in sorted(plan.placements.items())
            if name in buffers
        },
    }
