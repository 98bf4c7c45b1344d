"""Pack one pool: greedy orders first, then exact search, each independent part on its own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from atoll.memory.effort import Meter
from atoll.memory.greedy import Shelf, orders, without_limit
from atoll.memory.hill_climb import climb
from atoll.memory.ladder import Packed, improve, used_by
from atoll.memory.packing import Offsets, Packing
from atoll.memory.packing_bound import packing_bound
from atoll.memory.search import Engine
from atoll.memory.search_layout import LARGEST

_UNLIMITED = 1 << 100


def pack(
    packing: Packing,
    meter: Meter,
    engine: Engine,
    hint: Offsets | None = None,
    *,
    climbing: bool = True,
) -> Packed | None:
    """Find offsets for all members; None if the pinned ones rule each other out.

    Plans may be higher than the pool; `bound` tells whether that is inevitable.

    Args:
        packing: what to pack.
        meter: what may be spent.
        engine: runs the exact search.
        hint: offsets with which the members fit, if any are known.
        climbing: try other orders where there are too many members for exact search.
    """
    parts = [replace(packing, members=part) for part in components(packing)]
    started = [_start(part, hint) for part in parts]
    if None in started:
        return None
    known = [each for each in started if each is not None]
    floor = max((each.bound for each in known), default=0)
    enough = meter.effort.enough
    for number in sorted(range(len(parts)), key=lambda n: -known[n].used):
        part = parts[number]
        if climbing and len(part.free) > LARGEST and known[number].used > max(floor, enough):
            known[number] = _climbed(part, known[number], meter)
        known[number] = improve(part, known[number], max(floor, enough), meter, engine)
        floor = max(floor, known[number].bound)
    offsets: dict[int, int] = {}
    for each in known:
        offsets |= each.offsets
    used = max((each.used for each in known), default=0)
    return Packed(offsets=offsets, used=used, bound=min(floor, used))


def _climbed(packing: Packing, known: Packed, meter: Meter) -> Packed:
    """Return a better plan than `known` if changing the order gives one."""
    name = packing.pool.name
    whole = without_limit(packing.whole, _UNLIMITED)
    places = climb(whole, dict.fromkeys(packing.members, (name,)), meter)
    if places is None:
        return known
    offsets = {member: offset for member, (_, offset) in places.items()}
    used = used_by(packing, offsets)
    return replace(known, offsets=offsets, used=used) if used < known.used else known


def components(packing: Packing) -> Iterator[tuple[int, ...]]:
    """Yield members that no conflict joins with others."""
    left = dict.fromkeys(packing.members)
    while left:
        first = next(iter(left))
        del left[first]
        found, front = [first], [first]
        while front:
            for other in packing.whole.neighbours[front.pop()]:
                if other in left:
                    del left[other]
                    found.append(other)
                    front.append(other)
        yield tuple(sorted(found))


def _start(packing: Packing, hint: Offsets | None) -> Packed | None:
    """Return the best of the hint and the greedy orders, in a pool without limit."""
    bound = packing_bound(packing)
    best: Packed | None = None
    if hint is not None:
        known = {member: hint[member] for member in packing.members}
        best = Packed(offsets=known, used=used_by(packing, known), bound=bound)
    inside = set(packing.members)
    for order in orders(packing.whole):
        if best is not None and best.used <= bound:
            break
        offsets = _filled(packing, [member for member in order if member in inside])
        if offsets is None:
            return None
        used = used_by(packing, offsets)
        if best is None or used < best.used:
            best = Packed(offsets=offsets, used=used, bound=bound)
    return best


def _filled(packing: Packing, order: list[int]) -> Offsets | None:
    shelf = Shelf(packing.whole, replace(packing.pool, size=_UNLIMITED))
    found: Mapping[int, int] = shelf.offsets
    return found if all(shelf.place(member) for member in order) else None
