"""Pack one pool as low as possible: a ladder of capacities below the best plan so far.

How long a search takes varies wildly with the capacity and with the way of branching. So each
way gets a small number of nodes at each of a few capacities, and the number grows slowly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from atoll.memory.effort import Meter
from atoll.memory.packing import Offsets, Packing
from atoll.memory.search import Engine, Search
from atoll.memory.search_kernel import LARGEST
from atoll.memory.ways import ways

_FIRST, _GROWTH = 1_500, 1.1
"""Nodes of the first search, and their growth with each way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What is known about a packing.

    Attributes:
        offsets: the best plan.
        used: bytes that it takes.
        bound: no plan takes less.
    """

    offsets: Offsets
    used: int
    bound: int


def used_by(packing: Packing, offsets: Offsets) -> int:
    """Return the end of the highest member."""
    blocks = packing.whole.blocks
    return max((offsets[member] + blocks[member].size for member in packing.members), default=0)


def improve(packing: Packing, known: Packed, enough: int, meter: Meter, engine: Engine) -> Packed:
    """Search for better plans than `known`.

    Args:
        packing: what to pack.
        known: a plan and a bound.
        enough: bytes below which nothing is gained.
        meter: what may be spent.
        engine: runs the search.

    Returns:
        A plan that is as good or better; it takes `enough` or less, or what its bound says, or
        none fits the pool, or the meter is over.
    """
    if _settled(packing, known, enough) or len(packing.free) > LARGEST or meter.over:
        return known
    search = Search(packing, engine)
    nodes = float(_FIRST)
    for way in ways(packing, meter.effort.seed):
        for capacity in _rungs(packing, known, enough):
            outcome = search.fits(capacity, way, meter.allow(int(nodes)))
            meter.spend(outcome.nodes)
            if outcome.offsets is not None:
                used = used_by(packing, outcome.offsets)
                known = replace(known, offsets=outcome.offsets, used=used)
                meter.tell(known.used, known.bound)
                break
            if outcome.exhausted:
                known = replace(known, bound=max(known.bound, capacity + packing.step))
                meter.tell(known.used, known.bound)
        if _settled(packing, known, enough) or meter.over:
            return known
        nodes *= _GROWTH
    raise AssertionError("ways do not end")


def _settled(packing: Packing, known: Packed, enough: int) -> bool:
    return known.used <= max(known.bound, enough) or known.bound > packing.pool.size


def _rungs(packing: Packing, known: Packed, enough: int) -> Iterator[int]:
    """Yield capacities below the best plan, the lowest that may be possible first.

    A plan that fits the pool comes before one that is as low as can be.
    """
    least = max(known.bound, enough)
    if known.used > packing.pool.size:
        yield max(least, packing.pool.size)
        return
    highest = (known.used - 1) // packing.step * packing.step
    tried: set[int] = set()
    for part in (1, 8, 0):
        drop = (known.used - least) // part if part else 0
        capacity = max(least, min(highest, known.used - drop))
        if capacity not in tried:
            tried.add(capacity)
            yield capacity
