# SPDX-License-Identifier: Apache-2.0
"""The memories that a core reaches."""

from atoll.resolve.memory_views import as_seen_by, core_as_it_sees
from atoll.resolve.soc import Access, Cpu, Memory, ResolvedSoc


def memories_of(soc: ResolvedSoc, core: Cpu) -> tuple[Memory, ...]:
    """Return the memories of a core's pools, code, data and stacks, where the core sees them."""
    seen = as_seen_by(soc, core.name)
    reached = {pool.region.memory for pool in seen.pools if pool.reach[core.name] != Access.NONE}
    own = core_as_it_sees(soc, core)
    reached |= {region.memory for region in (*own.code_regions, own.data, *own.stacks)}
    return tuple(memory for memory in seen.memories if memory.name in reached)
