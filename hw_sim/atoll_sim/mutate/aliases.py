# SPDX-License-Identifier: Apache-2.0
"""Faults of a planner or a linker that takes two addresses of a memory for two memories."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from atoll.memory.checker import violations
from atoll.memory.problem import Placement
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Pool, Region, ResolvedSoc
from atoll_sim.mutate.linker import region_elsewhere
from atoll_sim.mutate.mutant import Mutant, Right, move_buffers, replace_placements


def alias_taken_for_memory(right: Right, random: Random) -> Mutant | None:
    """Put a buffer, or a pool in the linker script, where its bytes are others' at another address.

    The contract follows the plan, so that only lifetimes and contents can tell.
    """
    pools = [pool for pool in right.compiled.soc.pools if _others(right.compiled.soc, pool.region)]
    if not pools:
        return None
    pool = random.choice(pools)
    make = _pool_over if pool.holds_constants and random.randrange(2) else _buffer_over
    return make(right, random, pool)


def _buffer_over(right: Right, random: Random, pool: Pool) -> Mutant | None:
    """Put a buffer of `pool` over one that is live at the same time, at another address."""
    compiled = right.compiled
    plan, soc, sizes = compiled.plan, compiled.soc, compiled.module.entry.sizes
    constants = {constant.name for constant in compiled.module.entry.constants}
    names = {each.name for each in _others(soc, pool.region)}
    places = plan.placements.values()
    own = [p for p in places if p.pool == pool.name and p.buffer not in constants]
    others = [p for p in places if p.pool in names]
    if not own or not others:
        return None
    place, other = random.choice(own), random.choice(others)
    buffer = next((b for b in plan.problem.buffers if b.name == place.buffer), None)
    if buffer is None or other.buffer not in sizes:
        return None
    step = max(buffer.alignment, pool.alignment)
    begin, size = plan.address(other.buffer), sizes[other.buffer]
    first = (begin - buffer.size) // step + 1
    address = random.randrange(first, (begin + size - 1) // step + 1) * step
    shown = _visible_range(soc, pool.region)
    if not (shown.start <= address and address + buffer.size <= shown.stop):
        return None
    now = Placement(buffer=place.buffer, pool=pool.name, offset=address - pool.region.origin)
    whole = replace_placements(plan, (now,))
    known = {each.name: whole.placements[each.name] for each in plan.problem.buffers}
    if not any(fault.code == "E063" for fault in violations(replace(whole, placements=known))):
        return None
    built = move_buffers(compiled, (now,))
    what = f"'{place.buffer}' has bytes of '{other.buffer}', which '{pool.name}' has elsewhere"
    return Mutant(subject=place.buffer, sentence=what, built=built, judged=built)


def _pool_over(right: Right, random: Random, pool: Pool) -> Mutant | None:
    """Let the linker put the constants of `pool` on bytes that are code or others' constants."""
    soc = right.compiled.soc
    seen = as_seen_by(soc, soc.host)
    used = right.compiled.plan.use[pool.name].used
    loaded = [
        range(max(segment.address, region.origin), min(segment.end, region.end))
        for region in _others(soc, pool.region)
        for segment in right.segments
        if segment.address < region.end and region.origin < segment.end
    ]
    if not used or not loaded:
        return None
    over, shown = random.choice(loaded), _visible_range(soc, pool.region)
    step = max(pool.alignment, 256)
    first = (over.start - used) // step + 1
    now = random.randrange(first, (over.stop - 1) // step + 1) * step
    if not (shown.start <= now and now + used <= shown.stop):
        return None
    was = seen.pool(pool.name).region.origin
    what = f"the linker has pool '{pool.name}' on bytes that are loaded at another address"
    by = now - pool.region.origin
    return region_elsewhere(right, f"pool_{pool.name}", was, was + by, what)


def _others(soc: ResolvedSoc, region: Region) -> tuple[Region, ...]:
    """Return the regions of a region's memory that devices touch at other addresses."""
    return tuple(_at_other_addresses(soc, region))


def _at_other_addresses(soc: ResolvedSoc, region: Region) -> Iterator[Region]:
    alias = soc.alias_for(region)
    for other in soc.regions():
        if other.memory == region.memory and soc.alias_for(other) != alias:
            yield other


def _visible_range(soc: ResolvedSoc, region: Region) -> range:
    """Return the bytes that are seen where a region is touched."""
    alias = soc.alias_for(region)
    if alias is not None:
        return alias.shown
    memory = soc.memory(region.memory)
    return range(memory.origin, memory.end)
