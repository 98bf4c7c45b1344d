"""Pack one pool as low as possible: a ladder of capacities below the best plan so far.

How long a search takes varies wildly with the capacity and with the way of branching. So each
way gets a small number of nodes, at a capacity or two.
"""

from dataclasses import dataclass, replace
from itertools import count

from atoll.memory.effort import Meter
from atoll.memory.packing import Offsets, Packing
from atoll.memory.search import Engine, Search
from atoll.memory.search_layout import LARGEST
from atoll.memory.ways import Ways

_LEAST, _DIVES = 200, 4
"""Nodes of a short search: at least, and times the number of blocks. Those that succeed mostly do
so early; now and then a long one follows, which may prove that there is no plan."""

_SMALL = 48
"""Most blocks of which long searches get half of all nodes; with more they hardly ever end."""

_PART = 16
"""How many times longer than a long search all others are, with more blocks."""

_PARTS = (16, 4, 64)
"""How far below the best plan to look, as parts of the distance to the bound."""


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
    if _settled(packing, known, enough) or _too_large(packing, known) or meter.over:
        return known
    search, ways = Search(packing, engine), Ways(packing, meter.effort.seed + meter.fresh_starts)
    begin, least = meter.spent, max(_LEAST, _DIVES * len(packing.free))
    part = 1 if len(packing.free) <= _SMALL else _PART
    for pull in count():
        thorough = pull & (pull - 1) == 0
        nodes = max(least, (meter.spent - begin) // part) if thorough else least
        capacity = _capacity(packing, known, enough, None if thorough else pull)
        outcome = search.fits(capacity, ways.next(), meter.allow(nodes))
        meter.spend(outcome.nodes)
        ways.report(outcome.deepest, solved=outcome.offsets is not None)
        if outcome.offsets is not None:
            known = replace(known, offsets=outcome.offsets, used=used_by(packing, outcome.offsets))
        elif outcome.exhausted:
            known = replace(known, bound=max(known.bound, capacity + packing.step))
        if outcome.offsets is not None or outcome.exhausted:
            meter.tell(known.used, known.bound)
        if _settled(packing, known, enough) or meter.over:
            break
    return known


def _too_large(packing: Packing, known: Packed) -> bool:
    """Tell whether the kernel's arrays or numbers cannot hold the problem."""
    edges = sum(len(packing.whole.neighbours[member]) for member in packing.free)
    highest = packing.pool.origin + known.used + packing.grain
    return len(packing.free) > LARGEST or edges > LARGEST**2 or highest >= 1 << 58


def _settled(packing: Packing, known: Packed, enough: int) -> bool:
    return known.used <= max(known.bound, enough) or known.bound > packing.pool.size


def _capacity(packing: Packing, known: Packed, enough: int, pull: int | None) -> int:
    """Return a capacity below the best plan: the largest, if `pull` is None.

    A plan that fits the pool comes before one that is as low as can be.
    """
    least = max(known.bound, enough)
    if known.used > packing.pool.size:
        return max(least, packing.pool.size)
    highest = max(least, (known.used - 1) // packing.step * packing.step)
    if pull is None:
        return highest
    if pull % 4 == 0:
        return least
    drop = (highest - least) // _PARTS[pull % len(_PARTS)]
    return highest - drop // packing.step * packing.step
