# SPDX-License-Identifier: Apache-2.0
"""Ways of a tensor from pool to pool: by the host, or by a DMA engine where the host cannot."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace

from atoll.ir.graph import Tensor
from atoll.reach.candidates import WORKSPACE_ROLES, Needs, allows, homes_of
from atoll.reach.movers import covers
from atoll.reach.rooms import has_room
from atoll.records import dataclass
from atoll.resolve.soc import Access, ResolvedSoc


@dataclass(frozen=True, slots=True)
class Step:
    """One copy of a way.

    Attributes:
        source: the pool that is read.
        target: the pool that is written.
        mover: who copies.
    """

    source: str
    target: str
    mover: str


@dataclass(frozen=True, slots=True)
class Routes:
    """The copies that a chip can make between pools; nothing outlives it."""

    soc: ResolvedSoc
    _steps: dict[tuple[str, str], Step | None] = field(default_factory=dict, repr=False)
    _trees: dict[tuple[str, int], Mapping[str, Step | None]] = field(
        default_factory=dict, repr=False
    )

    def tree(self, home: str, size: int) -> Mapping[str, Step | None]:
        """Return the pools that `size` bytes get to from `home`, each with the last step there.

        Each is reached in as few copies as can be.
        """
        if (home, size) not in self._trees:
            self._trees[home, size] = self._grow(home, size)
        return self._trees[home, size]

    def readable(self, device: str, home: str, size: int) -> bool:
        """Say whether a device can read what is written in `home`, or a copy of it."""
        return any(self._reads(device, pool) for pool in self.tree(home, size))

    def cheapest(self, tensor: Tensor, needs: Needs) -> tuple[str, tuple[Step, ...]] | None:
        """Return the home of a tensor and the copies for its readers, None if there is none.

        The home is one with the fewest copies.
        """
        writers = {name: need for name, need in needs.items() if need is Access.WRITE}
        readers = [name for name in needs if name not in writers]
        found: list[tuple[str, tuple[Step, ...]]] = []
        for home in homes_of(self.soc, writers, tensor):
            steps = self._steps_to(readers, home, tensor.size)
            if steps is not None:
                found.append((home, steps))
        return min(found, key=lambda each: len(each[1]), default=None)

    def pool_for(self, device: str, pools: Collection[str]) -> str:
        """Return the first of `pools` that a device reads."""
        return next(pool for pool in pools if self._reads(device, pool))

    def _steps_to(self, readers: list[str], home: str, size: int) -> tuple[Step, ...] | None:
        tree, used = self.tree(home, size), dict[str, Step | None]({home: None})
        for reader in readers:
            near = next((pool for pool in used if self._reads(reader, pool)), None)
            near = near or next((pool for pool in tree if self._reads(reader, pool)), None)
            if near is None:
                return None
            way: list[str] = []
            while near not in used:
                way.append(near)
                step = tree[near]
                assert step is not None
                near = step.source
            used |= {pool: tree[pool] for pool in reversed(way)}
        return tuple(step for step in used.values() if step is not None)

    def _grow(self, home: str, size: int) -> Mapping[str, Step | None]:
        found: dict[str, Step | None] = {home: None}
        roomy = [
            pool.name
            for pool in self.soc.pools
            if pool.role in WORKSPACE_ROLES and has_room(pool, size, self.soc)
        ]
        left = [home]
        for source in left:
            for target in roomy:
                if target not in found and (step := self._step(source, target)):
                    found[target] = step
                    left.append(target)
        return found

    def _step(self, source: str, target: str) -> Step | None:
        if (source, target) not in self._steps:
            self._steps[source, target] = next(self._movers(source, target), None)
        return self._steps[source, target]

    def _movers(self, source: str, target: str) -> Iterator[Step]:
        soc = self.soc
        into = soc.pool(target).reach
        if self._reads(soc.host, source) and allows(into[soc.host], Access.WRITE):
            yield Step(source, target, soc.host)
        for dma in soc.dmas:
            reaches = self._reads(dma.name, source) and allows(into[dma.name], Access.WRITE)
            if reaches and covers(dma, soc, (source,), (target,)):
                yield Step(source, target, dma.name)

    def _reads(self, device: str, pool: str) -> bool:
        return allows(self.soc.pool(pool).reach[device], Access.READ)


def at_home(tensor: Tensor, pool: str) -> Tensor:
    """Return a tensor that is in a pool."""
    return replace(tensor, pools=(pool,))
