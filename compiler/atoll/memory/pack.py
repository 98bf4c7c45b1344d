"""Pack one pool: greedy orders first, then exact search, each independent part on its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atoll.memory.effort import Meter
from atoll.memory.greedy import BY_SIZE, ORDERS, Shelf, orders, without_limit
from atoll.memory.hill_climb import climb
from atoll.memory.jigsaw import join
from atoll.memory.ladder import Packed, improve, used_by
from atoll.memory.packing import Offsets, Packing
from atoll.memory.packing_bound import packing_bound
from atoll.memory.search import Engine
from atoll.memory.search_layout import LARGEST
from atoll.memory.skyline import pack_strip
from atoll.memory.strip import Strip, strip_of

_NEAR = 0.02
"""Gap to the bound, as a part of it, that a search of very many blocks is too dear for."""

_UNLIMITED = 1 << 100

_LEAST, _FEW = 48, 256
"""Blocks up to which exact search is alone, and comes first; it mostly ends early then."""

_PART_OF_FEW, _PART_OF_MANY = 0.9, 0.75
"""Of what is left, the most that may be spent by what comes first."""


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
        climbing: try what is not exact where there are too many members for exact search.
    """
    parts = [replace(packing, members=part) for part in components(packing)]
    strips = [strip_of(part) if climbing and len(part.free) > _LEAST else None for part in parts]
    started = [_start(part, strip, hint) for part, strip in zip(parts, strips, strict=True)]
    if None in started:
        return None
    works = [_Work(part, strip, meter, engine) for part, strip in zip(parts, strips, strict=True)]
    known = _improved(works, [each for each in started if each is not None], climbing)
    offsets: dict[int, int] = {}
    for each in known:
        offsets |= each.offsets
    used = max((each.used for each in known), default=0)
    floor = max((each.bound for each in known), default=0)
    return Packed(offsets=offsets, used=used, bound=min(floor, used))


@dataclass(frozen=True, slots=True)
class _Work:
    """One part to improve."""

    packing: Packing
    strip: Strip | None
    meter: Meter
    engine: Engine

    @property
    def count(self) -> int:
        """Blocks that are to be placed."""
        return len(self.packing.free)

    def done(self, known: Packed, enough: int, *, climbing: bool) -> Packed:
        """Improve what is known, down to `enough` bytes."""
        if self.count <= _FEW:
            return self._few(known, enough)
        return self._many(known, enough, climbing=climbing)

    def _few(self, known: Packed, enough: int) -> Packed:
        """Improve by exact search; by skylines where that does not end."""
        if self.strip is not None:
            with self.meter.share(_PART_OF_FEW):
                known = self._searched(known, enough)
            known = self._on_skylines(known, enough)
        known = self._searched(known, enough)
        if known.bound <= self.packing.pool.size < known.used:
            with self.meter.extended():
                known = self._searched(known, self.packing.pool.size)
        return known

    def _many(self, known: Packed, enough: int, *, climbing: bool) -> Packed:
        """Improve by skylines or by changing the order, then by exact search."""
        if self.strip is not None:
            known = self._on_skylines(known, enough)
        elif climbing and len(self.packing.free) > LARGEST and self._open(known, enough):
            known = _climbed(self.packing, known, self.meter)
        return self._searched(known, enough)

    def _open(self, known: Packed, enough: int) -> bool:
        return known.used > max(known.bound, enough)

    def _searched(self, known: Packed, enough: int) -> Packed:
        return improve(self.packing, known, enough, self.meter, self.engine)

    def _on_skylines(self, known: Packed, enough: int) -> Packed:
        """Return a better plan than `known` if skylines lead to one.

        What is joined has fewer blocks and is quick to pack. Blocks that fit by chance may be
        joined wrongly, so all are packed as they are where that is not enough.
        """
        if self.strip is None or not self._open(known, enough):
            return known
        joined = join(self.strip)
        if len(joined.groups) < len(self.strip.groups):
            known = self._packed(joined, known, enough, again=False)
        near = known.bound * (1 + _NEAR if len(self.strip.groups) > LARGEST else 1)
        if known.used <= near:
            return known
        return self._packed(self.strip, known, enough, again=True)

    def _packed(self, strip: Strip, known: Packed, enough: int, *, again: bool) -> Packed:
        """Return the plan of a strip on skylines, or `known` if that is as good."""
        if not self._open(known, enough) or self.meter.over:
            return known
        wanted = max(enough, known.bound) - strip.base
        with self.meter.share(_PART_OF_MANY):
            skylines = self.engine.skylines()
            found = pack_strip(strip, self.meter, skylines, wanted, again=again)
        offsets = strip.offsets(found.grounds) if found is not None else known.offsets
        used = used_by(self.packing, offsets)
        if used >= known.used:
            return known
        self.meter.tell(used, known.bound)
        return replace(known, offsets=offsets, used=used)


def _improved(works: Sequence[_Work], started: list[Packed], climbing: bool) -> list[Packed]:
    """Improve independent parts of a pool, the highest first; none need be lower than another.

    Each that is too high may spend as much of what is left as it has of the blocks of all those.
    """
    known = list(started)
    floor = max((each.bound for each in known), default=0)
    order = sorted(range(len(works)), key=lambda n: -known[n].used)
    for place, number in enumerate(order):
        work = works[number]
        enough = max(floor, work.meter.effort.enough)
        if known[number].used <= enough:
            break
        left = sum(works[n].count for n in order[place:] if known[n].used > enough)
        with work.meter.share(work.count / left):
            known[number] = work.done(known[number], enough, climbing=climbing)
        limit = min(known[number].used, work.packing.pool.size)
        floor = max(floor, known[number].bound, limit)
    return known


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


def _start(packing: Packing, strip: Strip | None, hint: Offsets | None) -> Packed | None:
    """Return the best of the hint and the greedy orders, in a pool without limit.

    Of a large strip, it is enough to have a plan.
    """
    bound = packing_bound(packing)
    best: Packed | None = None
    if hint is not None:
        known = {member: hint[member] for member in packing.members}
        best = Packed(offsets=known, used=used_by(packing, known), bound=bound)
    inside = set(packing.members)
    keys = (BY_SIZE,) if strip is not None and len(packing.free) > LARGEST else ORDERS
    for order in orders(packing.whole, keys):
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
