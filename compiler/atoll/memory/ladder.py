"""Pack one pool as low as possible: a ladder of capacities below the best plan so far.

How long a search takes varies wildly with the capacity and with the way of branching. So each
way gets a small number of nodes, at a capacity or two.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from atoll.memory.effort import Meter
from atoll.memory.packing import Offsets, Packing
from atoll.memory.search import Engine, Search
from atoll.memory.search_kernel import LARGEST
from atoll.memory.ways import Ways

_LEAST, _DIVES = 200, 4
"""Nodes of a short search: at least, and times the number of blocks. Those that succeed mostly do
so early; now and then a long one follows, which may prove that there is no plan."""

_DROPS = (16, 4, 64)
"""How far below the best plan to look, as part of the distance to the bound."""


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
    search, ways = Search(packing, engine), Ways(packing, meter.effort.seed)
    begin, least = meter.spent, max(_LEAST, _DIVES * len(packing.free))
    for pull in count():
        way, deepest, solved = ways.next(), 0, False
        thorough = (meter.spent - begin) // 2 if not pull & (pull - 1) else 0
        for capacity in _rungs(packing, known, enough, pull):
            outcome = search.fits(capacity, way, meter.allow(max(least, thorough)))
            meter.spend(outcome.nodes)
            deepest = max(deepest, outcome.deepest)
            if outcome.offsets is not None:
                used = used_by(packing, outcome.offsets)
                known, solved = replace(known, offsets=outcome.offsets, used=used), True
            elif outcome.exhausted:
                known = replace(known, bound=max(known.bound, capacity + packing.step))
            else:
                continue
            meter.tell(known.used, known.bound)
            break
        ways.report(deepest, solved=solved)
        if _settled(packing, known, enough) or meter.over:
            break
    return known


def _settled(packing: Packing, known: Packed, enough: int) -> bool:
    return known.used <= max(known.bound, enough) or known.bound > packing.pool.size


def _rungs(packing: Packing, known: Packed, enough: int, pull: int) -> Iterator[int]:
    """Yield capacities below the best plan, the lowest that may be possible first.

    A plan that fits the pool comes before one that is as low as can be.
    """
    least = max(known.bound, enough)
    if known.used > packing.pool.size:
        highest = max(least, packing.pool.size)
        yield least + (highest - least) * (pull % 3) // 2
        return
    highest = (known.used - 1) // packing.step * packing.step
    drop = (known.used - least) // _DROPS[pull % len(_DROPS)]
    second = max(least, min(highest, known.used - drop))
    yield second if pull % 4 else least
