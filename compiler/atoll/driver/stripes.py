# SPDX-License-Identifier: Apache-2.0
"""Cuts of a network that does not fit: the cheapest by estimates first, then the smallest.

What is found by estimates is compiled; where that needs more than there is, the next estimate is
for a pool that is a little smaller.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import partial

from atoll.diagnostics.errors import attempt
from atoll.driver.candidate import Candidate, Infeasible
from atoll.driver.search import Search
from atoll.driver.stages import devices_of
from atoll.driver.task import Task
from atoll.lower.jobs import overlaps_of
from atoll.lower.overlapping import Overlapping
from atoll.place.passes import Placing
from atoll.reach.candidates import candidate_pools, without_sizes
from atoll.records import dataclass
from atoll.resolve.soc import Pool, ResolvedSoc
from atoll.tile.ground import Ground
from atoll.tile.search import TilingSearch

ROUNDS, SHARE = 8, 24
"""Compilations that are tried for one pool, each for less room by this share."""

STEPS = (1.0, 1.3)
"""How much larger than the least room by estimates those rooms are that may be the smallest."""


def in_stripes(search: Search, base: Candidate, refused: Infeasible) -> Iterator[Candidate]:
    """Propose cuts of a network, for each kind of overlap until one fits.

    Args:
        search: that the candidates are for.
        base: the candidate that was refused.
        refused: why.
    """
    cuts = cuts_of(search.task, base, refused)
    if cuts is None:
        return
    plan = None
    for overlap in search.task.overlaps:
        plan = yield from search.until_one_fits(cuts.cheapest(overlap))
    if plan is None:
        yield from search.until_one_fits(cut for cut, _ in cuts.smallest())


@dataclass
class Cuts:
    """Cuts of a network for one pool.

    Attributes:
        base: the candidate that is cut.
        pool: the one that is too small.
        ground: the network as it is placed where there is room for all.
    """

    task: Task
    base: Candidate
    pool: Pool
    ground: Ground
    _searches: dict[Overlapping, TilingSearch] = field(default_factory=dict)

    def cheapest(self, overlap: Overlapping) -> Iterator[Candidate]:
        """Yield cuts for the room that there is and for smaller ones: estimates are not exact."""
        room = sum(map(self._room, self.ground.pools))
        for _ in range(ROUNDS):
            if tiling := self._search(overlap).best(room):
                yield replace(self.base, tiling=tiling, overlap=overlap)
            room -= room // SHARE

    def smallest(self) -> Iterator[tuple[Candidate, int]]:
        """Yield cuts with the most overlaps for rooms near the least one, and these rooms."""
        overlap = self.task.overlaps[-1]
        search = self._search(overlap)
        low, high = 0, sum(self.ground.sizes.values())
        if search.best(high) is None:
            return
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if search.best(middle) is None else (low, middle)
        for room in (int(high * step) for step in STEPS):
            if tiling := search.best(room):
                yield replace(self.base, tiling=tiling, overlap=overlap), room

    def others(self) -> int:
        """Return the bytes of pools that can take the place of the one that is too small."""
        return sum(self._room(name) for name in self.ground.pools if name != self.pool.name)

    def _room(self, pool: str) -> int:
        return self.task.soc.pool(pool).room

    def _search(self, overlap: Overlapping) -> TilingSearch:
        if overlap not in self._searches:
            ground = self.ground.with_overlaps(self._overlaps(overlap))
            self._searches[overlap] = TilingSearch(ground)
        return self._searches[overlap]

    def _overlaps(self, overlap: Overlapping) -> Mapping[str, Mapping[tuple[str, str], int]]:
        ground, network = self.ground, self.ground.network
        placed = (replace(op, device=ground.devices[op.name]) for op in network.operators)
        return {op.name: overlaps_of(op, network, ground.soc, overlap) for op in placed}


def cuts_of(task: Task, base: Candidate, refused: Infeasible) -> Cuts | None:
    """Return cuts of a candidate for the pool that is too small.

    None if that is not why it was refused, if it shall not be cut, or cannot be placed at all.
    """
    soc = base.chip(task.soc)
    pool = _crowded_pool(refused, soc) if task.may_cut else None
    roomy = without_sizes(soc)
    placed = attempt(partial(devices_of, task, base, roomy)) if pool else None
    if pool is None or not isinstance(placed, Placing):
        return None
    homes = candidate_pools(placed.graph, roomy)
    possible = {name: {*homes.get(name, ())} for name in task.network.by_name}
    alone = any(pools == {pool.name} for pools in possible.values())
    together = [pools for pools in possible.values() if pool.name in pools]
    pools = {pool.name} if alone else set[str]().union(*together)
    ground = Ground(
        network=task.network,
        soc=soc,
        devices={op.name: op.device for op in placed.graph.operators},
        pools=pools,
        held=frozenset(name for name, each in possible.items() if each and each <= pools),
        overlaps={},
        placed=frozenset(each.operator for each in placed.decisions if each.joined.constraints),
        asked=placed.requests.pools,
    )
    return Cuts(task, base, pool, ground)


def _crowded_pool(refused: Infeasible, soc: ResolvedSoc) -> Pool | None:
    """Return the pool of activations that is too small, None if that is not what is wrong."""
    pools = (pool for pool in soc.pools if pool.name in refused.pools)
    return next((pool for pool in pools if pool.role != "constants"), None)
