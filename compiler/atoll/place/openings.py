# SPDX-License-Identifier: Apache-2.0
"""Find the cheapest change of reach, moves or wishes with which a network can be placed; try it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

from atoll.ir.graph import Graph
from atoll.reach.candidates import allows, by_preference
from atoll.records import dataclass
from atoll.resolve.soc import Access, Device, Dma, Master, Pool, ResolvedSoc

MOST_TRIALS = 400
"""How many changes are tried before only those that open one pool to all are."""


@dataclass(frozen=True, slots=True)
class Reach:
    """A pool is opened to a device."""

    pool: str
    device: str
    access: Access

    def __str__(self) -> str:
        return f"set 'pools.{self.pool}.reach.{self.device}' to {self.access}"

    def apply(self, soc: ResolvedSoc) -> ResolvedSoc:
        """Return the chip with it."""

        def grant_access(pool: Pool) -> Pool:
            if pool.name != self.pool or allows(pool.reach[self.device], self.access):
                return pool
            return replace(pool, reach={**pool.reach, self.device: self.access})

        return replace(soc, pools=tuple(map(grant_access, soc.pools)))


@dataclass(frozen=True, slots=True)
class Move:
    """A DMA engine moves between two memories."""

    dma: str
    source: str
    target: str

    def __str__(self) -> str:
        return f"add '[{self.source}, {self.target}]' to 'devices.{self.dma}.moves'"

    def apply(self, soc: ResolvedSoc) -> ResolvedSoc:
        """Return the chip with it."""

        def add_move(device: Device) -> Device:
            if not isinstance(device, Dma) or device.name != self.dma:
                return device
            return replace(device, moves=(*device.moves, (self.source, self.target)))

        return replace(soc, devices=tuple(map(add_move, soc.devices)))


Change = Reach | Move
Works = Callable[[ResolvedSoc], bool]


def find_opening(graph: Graph, soc: ResolvedSoc, works: Works) -> str | None:
    """Return the edits with which a network can be placed, None if none was found.

    Each was tried. Edits are few rather than many; one of moves comes before one of reach, and
    reading before writing.

    Args:
        graph: the network.
        soc: the chip, on which it cannot be placed.
        works: says whether it can be on a changed chip.
    """
    single = tuple(_changes(graph, soc))
    tries = [(each,) for each in single]
    pairs = combinations(single, 2)
    left = MOST_TRIALS
    for changes in (*tries, *(pair for pair, _ in zip(pairs, range(MOST_TRIALS), strict=False))):
        if left == 0:
            break
        left -= 1
        if works(_change(soc, changes)):
            return _edits_text(changes)
    found = [made for pool in _roomiest(soc) if (made := _all_open(graph, soc, pool, works))]
    return _edits_text(min(found, key=len)) if found else None


def _change(soc: ResolvedSoc, changes: Iterable[Change]) -> ResolvedSoc:
    for each in changes:
        soc = each.apply(soc)
    return soc


def _edits_text(changes: Sequence[Change]) -> str:
    return ", ".join(map(str, changes))


def _changes(graph: Graph, soc: ResolvedSoc) -> Iterator[Change]:
    """Yield single changes, the cheapest first."""
    largest = max((each.size for each in graph.tensors if each.data is None), default=0)
    work = [pool for pool in _workspaces(soc) if pool.room >= largest]
    memories = tuple(dict.fromkeys(pool.region.memory for pool in work))
    for dma in soc.dmas:
        for source, target in product(memories, memories):
            new = source != target and (source, target) not in dma.moves
            reads = new and _is_reached(dma, work, source, Access.READ)
            if reads and _is_reached(dma, work, target, Access.WRITE):
                yield Move(dma.name, source, target)
    users = [each.name for each in soc.devices if not isinstance(each, Master)]
    constants = [pool for pool in by_preference(soc) if pool.role == "constants"]
    for access, pools in ((Access.READ, (*work, *constants)), (Access.WRITE, work)):
        for pool, name in product(pools, users):
            if not allows(pool.reach[name], access):
                yield Reach(pool.name, name, access)


def _is_reached(dma: Dma, pools: Iterable[Pool], memory: str, access: Access) -> bool:
    return any(
        pool.region.memory == memory and allows(pool.reach[dma.name], access) for pool in pools
    )


def _workspaces(soc: ResolvedSoc) -> list[Pool]:
    return [pool for pool in by_preference(soc) if pool.role in ("workspace", "both")]


def _roomiest(soc: ResolvedSoc) -> list[Pool]:
    return sorted(_workspaces(soc), key=lambda pool: -pool.room)[:2]


def _all_open(
    graph: Graph, soc: ResolvedSoc, pool: Pool, works: Works
) -> tuple[Change, ...] | None:
    """Open a pool, and the roomiest one of constants, to all; then leave out what is not needed."""
    users = [each.name for each in soc.devices if not isinstance(each, Master | Dma)]
    changes: list[Change] = [
        Reach(pool.name, name, Access.WRITE)
        for name in users
        if not allows(pool.reach[name], Access.WRITE)
    ]
    kept = [each for each in soc.pools if each.role in ("constants", "both")]
    for constants in sorted(kept, key=lambda each: -each.room)[:1]:
        changes += [
            Reach(constants.name, name, Access.READ)
            for name in users
            if not allows(constants.reach[name], Access.READ)
        ]
    if not works(_change(soc, changes)):
        return None
    # The host's go last: with them alone, cores run all.
    for each in sorted(changes, key=lambda c: isinstance(c, Reach) and c.device == soc.host):
        fewer = [other for other in changes if other is not each]
        if works(_change(soc, fewer)):
            changes = fewer
    return tuple(changes)
