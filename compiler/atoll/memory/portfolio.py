# SPDX-License-Identifier: Apache-2.0
"""Orders of branching for the exact search: a few that work well, then random variations."""

from collections.abc import Callable, Mapping, Sequence
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from math import exp, log, sqrt
from random import Random

from atoll.memory.packing import Packing
from atoll.memory.problem import Buffer
from atoll.memory.search_tables import Strategy
from atoll.records import dataclass

_SPREAD = 0.3
"""Logarithm of the most that a random variation multiplies a measure with."""

_CHANGED = 0.15
"""Part of the buffers that a strategy differs in from the one that it varies."""

_PATIENCE = 25
"""Strategies without gain after which a family starts again."""

_CURIOSITY = 0.15
"""Weight of how rarely a family was tried."""


_Key = Callable[[Buffer, int, float], tuple[float, ...]]

_KEYS: tuple[_Key, ...] = (
    lambda buffer, pressure, noise: (-buffer.length * noise, -buffer.size),
    lambda buffer, pressure, noise: (-pressure, -buffer.size * buffer.length * noise),
    lambda buffer, pressure, noise: (-pressure, -buffer.length * noise),
    lambda buffer, pressure, noise: (-buffer.size * buffer.length * noise,),
)
"""What buffers are sorted by; pressure is the bytes of the heaviest clique that one is in."""

_ARMS = ((1, True), (0, False), (2, True), (2, False), (0, True), (1, False), (3, False))
"""By which key to settle ties, and whether to choose by clique."""


@dataclass(slots=True, eq=False)
class Arm:
    """A family of strategies, and how deep they led.

    Attributes:
        key: number of the key.
        by_clique: as `Strategy`.
        climbing: vary the one that led deepest, rather than draw a new one each time.
        pulls: how many were tried.
        depth: sum of the parts of all buffers that they placed.
        noise: of the one that led deepest.
        deepest: how deep that was.
        idle: strategies since then.
    """

    key: int
    by_clique: bool
    climbing: bool
    noise: list[float]
    pulls: int = 0
    depth: float = 0.0
    deepest: float = -1.0
    idle: int = 0

    def promise(self, pulls: int) -> float:
        """Return how much is to be expected of the next one, after `pulls` in all."""
        return self.depth / self.pulls + _CURIOSITY * sqrt(log(pulls) / self.pulls)


class Portfolio:
    """Strategies; families that lead deep come more often. The same seed gives the same."""

    def __init__(self, packing: Packing, seed: int) -> None:
        self._packing = packing
        self._random = Random(seed)
        self._pressure = _pressure(packing)
        self._before = _before(packing)
        still = [1.0] * len(packing.members)
        self._arms = [
            Arm(key, by_clique, climbing, still)
            for climbing in (False, True)
            for key, by_clique in _ARMS
        ]
        self._pulls = 0
        self._focus = 0
        self._arm = self._arms[0]
        self._noise = still

    def next(self) -> Strategy:
        """Return a strategy to try; tell with `report` how it went."""
        self._arm = self._choose_arm()
        self._noise = self._vary(self._arm)
        key, buffers = _KEYS[self._arm.key], self._packing.graph.buffers
        members = self._packing.members
        noisy = zip(members, self._noise, strict=True)
        keys = [(key(buffers[n], self._pressure[n], noise), n) for n, noise in noisy]
        order = _adjust([member for _, member in sorted(keys)], self._before)
        rank = {member: place for place, member in enumerate(order)}
        return Strategy(by_clique=self._arm.by_clique, rank=[rank[member] for member in members])

    def _choose_arm(self) -> Arm:
        if self._focus:
            self._focus -= 1
            return self._arm
        fresh = next((arm for arm in self._arms if not arm.pulls), None)
        return fresh or max(self._arms, key=lambda arm: arm.promise(self._pulls))

    def report(self, deepest: int, *, solved: bool) -> None:
        """Take how many buffers the last one placed at most, and whether that made a plan.

        After a plan, a few variations of its strategy come next.
        """
        arm, depth = self._arm, deepest / max(1, len(self._packing.members))
        self._pulls += 1
        arm.pulls += 1
        arm.depth += depth
        arm.idle = 0 if depth > arm.deepest else arm.idle + 1
        if depth >= arm.deepest:
            arm.deepest, arm.noise = depth, self._noise
        if arm.idle > _PATIENCE:
            arm.deepest, arm.idle = -1.0, 0
        if solved:
            self._focus = _PATIENCE
            self._arm = self._arms[self._arms.index(arm) % len(_ARMS) + len(_ARMS)]
            self._arm.noise, self._arm.deepest, self._arm.idle = self._noise, 0.0, 0

    def _vary(self, arm: Arm) -> list[float]:
        if not arm.pulls and not arm.climbing:
            return arm.noise
        share = _CHANGED if arm.climbing and arm.deepest >= 0 else 1.0
        random = self._random
        return [
            old * exp(_SPREAD * random.uniform(-1, 1)) if random.random() < share else old
            for old in (arm.noise if share < 1 else [1.0] * len(arm.noise))
        ]


def _pressure(packing: Packing) -> Mapping[int, int]:
    """Return for each member the bytes of its heaviest clique."""
    buffers = packing.graph.buffers
    pressure = dict.fromkeys(packing.members, 0)
    for clique in packing.cliques:
        total = sum(buffers[member].size for member in clique)
        for member in clique:
            pressure[member] = max(pressure[member], total)
    return pressure


def _before(packing: Packing) -> Mapping[int, Sequence[int]]:
    """Return the members that have to be tried before each that may start where they do."""
    inside = set(packing.members)
    before: dict[int, list[int]] = {}
    for (lower, upper), distance in packing.graph.nearer.items():
        if distance == 0 and {lower, upper} <= inside:
            before.setdefault(upper, []).append(lower)
    return before


def _adjust(order: Sequence[int], before: Mapping[int, Sequence[int]]) -> Sequence[int]:
    """Sort `order` as little as `before` requires."""
    if not before:
        return order
    sorter = TopologicalSorter(before)
    for place in order:
        sorter.add(place)
    wanted = {place: rank for rank, place in enumerate(order)}
    sorter.prepare()
    ready: list[tuple[int, int]] = []
    adjusted: list[int] = []
    while sorter.is_active():
        for place in sorter.get_ready():
            heappush(ready, (wanted[place], place))
        adjusted.append(heappop(ready)[1])
        sorter.done(adjusted[-1])
    return adjusted
