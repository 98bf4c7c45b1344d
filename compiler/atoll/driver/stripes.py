# SPDX-License-Identifier: Apache-2.0
"""Cuts of a network that does not fit: the cheapest by estimates first, then the smallest.

What is found by estimates is compiled; where that needs more than there is, the next estimate is
for a pool that is a little smaller.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from atoll.diagnostics.errors import attempt
from atoll.driver.candidate import Candidate
from atoll.driver.compile import chip_of, devices_of
from atoll.driver.outcome import Infeasible
from atoll.driver.search import Search
from atoll.driver.task import Task
from atoll.lower.jobs import overlaps_of
from atoll.lower.overlapping import Overlapping
from atoll.place.plan_devices import DevicePlan
from atoll.reach.candidates import candidate_pools
from atoll.resolve.soc import Pool, ResolvedSoc
from atoll.tile.ground import Ground
from atoll.tile.search import Found, Stripes
from atoll.tile.search import Search as TilingSearch

ROUNDS, SHARE = 8, 24
"""Compilations that are tried for one pool, each for less room by this share."""

STEPS = (1.0, 1.3)
"""How much larger than the least room by estimates those rooms are that may be the smallest."""

_UNLIMITED = 1 << 40


def in_stripes(search: Search, base: Candidate, refused: Infeasible) -> Iterator[Candidate]:
    """Propose cuts of a network, for each kind of overlap until one fits.

    Args:
        search: that the candidates are for.
        base: the candidate that was refused.
        refused: why.
    """
    soc = chip_of(search.task, base)
    pool = crowded_pool(refused, soc) if search.task.may_cut else None
    if pool is None:
        return
    cuts = Cuts(search.task, base, pool)
    for overlap in search.task.overlaps:
        tried = list[Candidate]()
        for found in cuts.cheapest(overlap):
            cut = replace(base, tiling=found.tiling, overlap=overlap)
            if cut not in tried:
                tried.append(cut)
                yield cut
                if search.last.plan:
                    break
        else:
            if overlap == search.task.overlaps[-1]:
                yield from _smallest(search, cuts)


def _smallest(search: Search, cuts: "Cuts") -> Iterator[Candidate]:
    for cut, _ in cuts.smallest():
        yield cut
        if search.last.plan:
            return


def crowded_pool(refused: Infeasible, soc: ResolvedSoc) -> Pool | None:
    """Return the pool of activations that is too small, None if that is not what is wrong."""
    keys = (key.split(".") for key in refused.lacks)
    names = {key[1] for key in keys if key[0] == "pools" and key[2:] == ["size"]}
    pools = (pool for pool in soc.pools if pool.name in names and pool.role != "constants")
    return next(pools, None)


@dataclass
class Cuts:
    """Cuts of a network for one pool.

    Attributes:
        base: the candidate that is cut.
        pool: the one that is too small.
    """

    task: Task
    base: Candidate
    pool: Pool
    _stripes: Stripes = field(default_factory=dict)
    _searches: dict[Overlapping, TilingSearch | None] = field(default_factory=dict)

    def cheapest(self, overlap: Overlapping) -> Iterator[Found]:
        """Yield cuts for the room that there is and for smaller ones: estimates are not exact."""
        search = self.searched(overlap)
        room = sum(self._room(name) for name in search.ground.pools) if search else 0
        for _ in range(ROUNDS if search else 0):
            assert search is not None
            if found := search.best(room):
                yield found
            room -= room // SHARE

    def smallest(self) -> Iterator[tuple[Candidate, int]]:
        """Yield cuts with the most overlaps for rooms near the least one, and these rooms."""
        overlap = self.task.overlaps[-1]
        search = self.searched(overlap)
        if search is None:
            return
        low, high = 0, sum(search.ground.sizes.values())
        if search.best(high) is None:
            return
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if search.best(middle) is None else (low, middle)
        for step in STEPS:
            if found := search.best(int(high * step)):
                yield replace(self.base, tiling=found.tiling, overlap=overlap), found.room

    def others(self) -> int:
        """Return the bytes of pools that can take the place of the one that is too small."""
        search = self.searched(self.task.overlaps[-1])
        names = search.ground.pools if search else ()
        return sum(self._room(name) for name in names if name != self.pool.name)

    def searched(self, overlap: Overlapping) -> TilingSearch | None:
        """Return the search for cuts, None if the network cannot be placed at all."""
        if overlap not in self._searches:
            self._searches[overlap] = self._search(overlap)
        return self._searches[overlap]

    def _room(self, pool: str) -> int:
        return self.task.soc.pool(pool).room

    def _search(self, overlap: Overlapping) -> TilingSearch | None:
        task, soc = self.task, chip_of(self.task, self.base)
        network = task.network
        roomy = sized(soc, {pool.name for pool in soc.pools}, _UNLIMITED)
        placed = attempt(partial(devices_of, task, self.base, roomy))
        if not isinstance(placed, DevicePlan):
            return None
        homes = candidate_pools(placed.graph, roomy)
        possible = {name: {*homes.get(name, ())} for name in network.by_name}
        alone = any(pools == {self.pool.name} for pools in possible.values())
        together = [pools for pools in possible.values() if self.pool.name in pools]
        pools = {self.pool.name} if alone else set[str]().union(*together)
        devices = {op.name: op.device for op in placed.graph.operators}
        chosen = frozenset(each.operator for each in placed.decisions if each.joined.constraints)
        return TilingSearch(
            Ground(
                network=network,
                soc=soc,
                devices=devices,
                pools=pools,
                held=frozenset(name for name, each in possible.items() if each and each <= pools),
                overlaps=self._overlaps(devices, overlap, soc),
                placed=chosen,
                asked=placed.requests.pools,
            ),
            self._stripes,
        )

    def _overlaps(
        self, devices: Mapping[str, str], overlap: Overlapping, soc: ResolvedSoc
    ) -> Mapping[str, Mapping[tuple[str, str], int]]:
        network = self.task.network
        return {
            op.name: overlaps_of(replace(op, device=devices[op.name]), network, soc, overlap)
            for op in network.operators
        }


def sized(soc: ResolvedSoc, names: set[str], size: int) -> ResolvedSoc:
    """Return a chip some of whose pools have a size."""
    pools = (
        replace(pool, region=replace(pool.region, size=size)) if pool.name in names else pool
        for pool in soc.pools
    )
    return replace(soc, pools=tuple(pools))
