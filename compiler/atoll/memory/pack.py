# SPDX-License-Identifier: Apache-2.0
"""Pack one pool: greedy orders first, then climbing or exact search, each part on its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.memory.effort import Meter
from atoll.memory.greedy import UNLIMITED, Shelf, orders, without_limit
from atoll.memory.hill_climb import climb
from atoll.memory.ladder import LARGEST, Packed, improve
from atoll.memory.packing import Offsets, Packing
from atoll.utils.remember import Alike, remember

PARTS_AT_HAND = 512
"""Greedy plans of parts of pools that a process keeps."""

_FEW = 256
"""Most buffers of a part that is searched for longer as long as it does not fit."""


def pack(
    packing: Packing, meter: Meter, hint: Offsets | None = None, *, climbing: bool = True
) -> Packed:
    """Find offsets for all members.

    Plans may be higher than the pool; `bound` tells whether that is inevitable.

    Args:
        packing: what to pack.
        meter: what may be spent.
        hint: offsets with which the members fit, if any are known.
        climbing: change the order where there are too many members for exact search.
    """
    parts = [replace(packing, members=part) for part in components(packing)]
    known = _improve(parts, [_start(part, hint) for part in parts], meter, climbing)
    offsets: dict[int, int] = {}
    for each in known:
        offsets |= each.offsets
    used = max((each.used for each in known), default=0)
    floor = max((each.bound for each in known), default=0)
    return Packed(offsets=offsets, used=used, bound=min(floor, used))


def components(packing: Packing) -> Iterator[tuple[int, ...]]:
    """Yield members that no conflict joins with others."""
    left = dict.fromkeys(packing.members)
    while left:
        first = next(iter(left))
        del left[first]
        found, front = [first], [first]
        while front:
            for other in packing.graph.neighbours[front.pop()]:
                if other in left:
                    del left[other]
                    found.append(other)
                    front.append(other)
        yield tuple(sorted(found))


def _greedy_key(packing: Packing, hint: Offsets | None) -> Alike | None:
    """Return what greedy plans depend on: the size of the pool has no say where no ceiling is."""
    problem, pool, members = packing.graph.problem, packing.pool, packing.members
    if hint is not None or packing.graph.ceilings:
        return None
    first = pool.origin % max(map(packing.alignment, members))
    return Alike((pool.alignment, first, members), problem.buffers, problem.overlaps)


@remember(_greedy_key, most=PARTS_AT_HAND)
def _start(packing: Packing, hint: Offsets | None) -> Packed:
    """Return the best of the hint and the greedy orders, whose plans may be too high."""
    plans: list[Offsets] = []
    if hint is not None:
        plans = [{member: hint[member] for member in packing.members}]
    inside = set(packing.members)
    for order in orders(packing.graph):
        if plans and packing.highest_end(plans[-1]) <= packing.bound:
            break
        plans.append(_fill(packing, [member for member in order if member in inside]))
    best = min(plans, key=packing.highest_end)
    return Packed(offsets=best, used=packing.highest_end(best), bound=packing.bound)


def _fill(packing: Packing, order: list[int]) -> Offsets:
    shelf = Shelf(packing.graph, replace(packing.pool, size=UNLIMITED))
    for member in order:
        shelf.stack(member)
    return shelf.offsets


def _improve(
    parts: Sequence[Packing], started: Sequence[Packed], meter: Meter, climbing: bool
) -> Sequence[Packed]:
    """Improve independent parts of a pool, the highest first; none need be lower than another.

    Each that is too high may spend as much of what is left as it has of the buffers of all those.
    """
    known = list(started)
    floor = max((each.bound for each in known), default=0)
    order = sorted(range(len(parts)), key=lambda n: -known[n].used)
    for place, number in enumerate(order):
        part, enough = parts[number], max(floor, meter.effort.enough)
        if known[number].used <= enough:
            break
        left = sum(len(parts[n].members) for n in order[place:] if known[n].used > enough)
        with meter.share(len(part.members) / left):
            known[number] = _better(part, known[number], enough, meter, climbing)
        limit = min(known[number].used, part.pool.size)
        floor = max(floor, known[number].bound, limit)
    return known


def _better(part: Packing, known: Packed, enough: int, meter: Meter, climbing: bool) -> Packed:
    """Improve one part, down to `enough` bytes; go on for longer where it does not fit."""
    if len(part.members) > LARGEST:
        above = known.used > max(known.bound, enough)
        return _climb(part, known, meter) if climbing and above else known
    known = improve(part, known, enough, meter)
    if len(part.members) <= _FEW and known.bound <= part.pool.size < known.used:
        with meter.extend():
            known = improve(part, known, part.pool.size, meter)
    return known


def _climb(packing: Packing, known: Packed, meter: Meter) -> Packed:
    """Return a better plan than `known` if changing the order gives one."""
    pools = dict.fromkeys(packing.members, (packing.pool.name,))
    places = climb(without_limit(packing.graph), pools, meter)
    if places is None:
        return known
    offsets: Mapping[int, int] = {member: offset for member, (_, offset) in places.items()}
    used = packing.highest_end(offsets)
    if used >= known.used:
        return known
    meter.tell(used, known.bound)
    return replace(known, offsets=offsets, used=used)
