# SPDX-License-Identifier: Apache-2.0
"""Pack one pool as low as possible: a ladder of capacities below the best plan so far.

How long a search takes varies wildly with the capacity and with the strategy of branching. So each
strategy gets a small number of nodes, at a capacity or two.
"""

from dataclasses import replace
from itertools import count

from atoll.memory.effort import Meter
from atoll.memory.packing import Offsets, Packing
from atoll.memory.portfolio import Portfolio
from atoll.memory.search import Search
from atoll.memory.search_tables import Status
from atoll.records import dataclass

LARGEST = 1024
"""Most buffers of one exact search."""

_LEAST, _DIVES = 200, 4
"""Nodes of a short search: at least, and times the number of buffers. Those that succeed mostly do
so early; now and then a long one follows, which may prove that there is no plan."""

_SMALL = 48
"""Most buffers of which long searches get half of all nodes; with more they hardly ever end."""

_PART = 16
"""How many times longer than a long search all others are, with more buffers."""

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


def improve(packing: Packing, known: Packed, enough: int, meter: Meter) -> Packed:
    """Search for better plans than `known`.

    Args:
        packing: what to pack.
        known: a plan and a bound.
        enough: bytes below which nothing is gained.
        meter: what may be spent.

    Returns:
        A plan that is as good or better; it takes `enough` or less, or what its bound says, or
        none fits the pool, or the meter is over.
    """
    if _is_settled(packing, known, enough) or _too_large(packing, known) or meter.over:
        return known
    search = Search(packing)
    portfolio = Portfolio(packing, meter.effort.seed + meter.fresh_starts)
    begin, least = meter.spent, max(_LEAST, _DIVES * len(packing.members))
    part = 1 if len(packing.members) <= _SMALL else _PART
    for pull in count():
        thorough = pull & (pull - 1) == 0
        nodes = max(least, (meter.spent - begin) // part) if thorough else least
        capacity = _capacity(packing, known, enough, None if thorough else pull)
        found = search.fits(capacity, portfolio.next(), meter.allow(nodes))
        meter.spend(found.nodes)
        portfolio.report(found.deepest, solved=found.status is Status.SOLVED)
        if found.status is Status.SOLVED:
            known = replace(known, offsets=found.offsets, used=packing.highest_end(found.offsets))
        elif found.status is Status.EXHAUSTED:
            known = replace(known, bound=max(known.bound, capacity + packing.step))
        if found.status is not Status.RUNNING:
            meter.tell(known.used, known.bound)
        if _is_settled(packing, known, enough) or meter.over:
            break
    return known


def _too_large(packing: Packing, known: Packed) -> bool:
    """Tell whether there are too many members, or addresses that 64 bits cannot hold."""
    highest = packing.pool.origin + known.used + packing.grain
    return len(packing.members) > LARGEST or highest >= 1 << 58


def _is_settled(packing: Packing, known: Packed, enough: int) -> bool:
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
