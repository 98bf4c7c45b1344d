# SPDX-License-Identifier: Apache-2.0
"""Choose which buffer lives in which pool: least cost with which the live bytes fit every pool.

Branch and bound over buffers. The bound lets every buffer have its best pool, and adds what it
costs to move the bytes out that are too many at one moment, split as if buffers were divisible.
"""

from collections.abc import Mapping, Sequence

from atoll.memory.build_plan import Homes
from atoll.memory.conflicts import ConflictGraph, buffers_of
from atoll.memory.effort import Meter
from atoll.memory.packing import Packing
from atoll.records import dataclass
from atoll.utils.remember import remember

TABLES_AT_HAND = 16
"""Tables of problems that a process keeps; those of some hundred buffers take a megabyte."""

LARGEST = 400
"""Most buffers that are assigned exactly."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Buffers that do not fit into a pool together."""

    pool: str
    buffers: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """What the search for homes found.

    Attributes:
        homes: the cheapest that it found, or None.
        bound: cost that no homes are below.
        complete: it looked everywhere; None means that there are none.
    """

    homes: Homes | None
    bound: int
    complete: bool


@dataclass(frozen=True, slots=True)
class _Tables:
    """What is known of the buffers of a problem, wherever its pools are and however large.

    Attributes:
        costs: of each buffer, what it costs in each of its pools.
        weights: of each clique, the bytes that each member surely adds.
        needs: of each buffer, the numbers of its cliques, each with the bytes that it adds.
        crowds: bytes by member of a clique that has no pools but those of one of them.
    """

    costs: Sequence[Mapping[str, int]]
    weights: Sequence[Mapping[int, int]]
    needs: Sequence[Sequence[tuple[int, int]]]
    crowds: Sequence[tuple[Mapping[int, int], frozenset[str]]]


@remember(lambda graph: buffers_of(graph.problem), most=TABLES_AT_HAND)
def _tables(graph: ConflictGraph) -> _Tables:
    costs = [
        {pool: buffer.cost(pool) for pool in pools}
        for buffer, pools in zip(graph.buffers, graph.pools, strict=True)
    ]
    whole = Packing(graph, graph.problem.pools[0], tuple(range(len(graph.buffers))))
    weights = [whole.weights(clique, rounded=False) for clique in graph.cliques]
    needs: list[list[tuple[int, int]]] = [[] for _ in graph.buffers]
    for number, members in enumerate(weights):
        for buffer, weight in members.items():
            needs[buffer].append((number, weight))
    homes = [frozenset(each) for each in costs]
    crowds = [
        ({b: w for b, w in members.items() if homes[b] <= pools}, pools)
        for members in weights
        for pools in dict.fromkeys(homes[buffer] for buffer in members)
    ]
    return _Tables(costs, weights, needs, crowds)


class Assignment:
    """Finds homes for the buffers of a problem, with cuts that grow.

    Attributes:
        sizes: bytes of each pool.
        bytes: of each buffer.
        costs: of each buffer, what it costs in each of its pools.
        options: of each buffer, the pools that could hold it alone, the best first.
        weights: of each clique, the bytes that each member surely adds.
        needs: of each buffer, the numbers of its cliques, each with the bytes that it adds.
        ceilings: bytes of a pool within which a buffer has to end there, by its number and pool.
        cuts: what does not fit together, as far as was found out.
    """

    def __init__(self, graph: ConflictGraph) -> None:
        self.sizes = {pool.name: pool.size for pool in graph.problem.pools}
        self.bytes = [buffer.size for buffer in graph.buffers]
        tables = _tables(graph)
        self.costs, self.weights, self.needs = tables.costs, tables.weights, tables.needs
        self._crowds = tables.crowds
        bare = {pool.name: Packing(graph, pool, ()) for pool in graph.problem.pools}
        self.ceilings = graph.ceilings
        self.options = [
            [
                p
                for p in pools
                if bare[p].align_up(b, 0) + self.bytes[b]
                <= min(self.sizes[p], self.ceilings.get((b, p), self.sizes[p]))
            ]
            for b, pools in enumerate(graph.pools)
        ]
        self.cuts: list[Cut] = []

    def cost(self, homes: Homes) -> int:
        """Return what all homes cost."""
        return sum(self.costs[buffer][pool] for buffer, pool in homes.items())

    def homeless(self) -> list[int]:
        """Return the buffers that fit no pool even alone."""
        return [buffer for buffer, options in enumerate(self.options) if not options]

    def crowd(self) -> list[int]:
        """Return the fewest buffers found that conflict and are more than all of their pools hold.

        Looks at Hall's condition for the pools of each member of a clique; no search is needed
        where it fails.
        """
        found: list[int] = []
        for weights, pools in self._crowds:
            excess = sum(weights.values()) - sum(self.sizes[pool] for pool in pools)
            part = _fewest([*weights], weights, excess) if excess > 0 else []
            if part and (not found or len(part) < len(found)):
                found = part
        return found

    def least(self, pool: str) -> int:
        """Return bytes that `pool` surely needs, if the others keep their sizes.

        Of each clique, what is too much for the other pools of its members.
        """
        needs = (
            sum(weights.values()) - sum(self.sizes[each] for each in pools if each != pool)
            for weights, pools in self._crowds
            if pool in pools
        )
        return max((0, *needs))

    def cheapest(self) -> Homes | None:
        """Return every buffer's best pool, if the live bytes then fit and no cut forbids it."""
        homes = {buffer: options[0] for buffer, options in enumerate(self.options)}
        state = _State(self)
        return homes if all(state.take(buffer, pool) for buffer, pool in homes.items()) else None

    def search(self, meter: Meter, known: Homes | None) -> Assigned:
        """Return the cheapest homes.

        Args:
            meter: what may be spent; one node for each buffer that is tried.
            known: homes that fit.
        """
        if len(self.options) > LARGEST:
            floor = sum(self.costs[b][options[0]] for b, options in enumerate(self.options))
            return Assigned(homes=known, bound=floor, complete=False)
        return _Branching(self, meter, known).run()


class _State:
    """A partial choice: free bytes of each pool, and of its part below a ceiling, in each clique.

    Attributes:
        free: of each pool.
        rooms: the free bytes of all parts that a buffer with a ceiling lies in, by buffer and pool.
    """

    def __init__(self, problem: Assignment) -> None:
        self._problem = problem
        count = len(problem.weights)
        self.free = {pool: [size] * count for pool, size in problem.sizes.items()}
        parts = {(p, top): [top] * count for (_, p), top in problem.ceilings.items()}
        self.rooms = {
            (buffer, pool): [free for (p, top), free in parts.items() if p == pool and own <= top]
            for (buffer, pool), own in problem.ceilings.items()
        }
        self.homes: dict[int, str] = {}

    def take(self, buffer: int, pool: str) -> bool:
        """Give `buffer` a home, if that is possible."""
        problem = self._problem
        if not self.has_room(buffer, pool):
            return False
        self.homes[buffer] = pool
        if any(
            cut.pool == pool
            and buffer in cut.buffers
            and all(self.homes.get(other) == pool for other in cut.buffers)
            for cut in problem.cuts
        ):
            del self.homes[buffer]
            return False
        self._add(buffer, pool, -1)
        return True

    def has_room(self, buffer: int, pool: str) -> bool:
        """Tell whether the bytes of `buffer` are free in every clique; a generator is slower."""
        for free in (self.free[pool], *self.rooms.get((buffer, pool), ())):
            for clique, weight in self._problem.needs[buffer]:
                if free[clique] < weight:
                    return False
        return True

    def give_back(self, buffer: int) -> None:
        """Undo `take`."""
        self._add(buffer, self.homes.pop(buffer), 1)

    def _add(self, buffer: int, pool: str, sign: int) -> None:
        for free in (self.free[pool], *self.rooms.get((buffer, pool), ())):
            for clique, weight in self._problem.needs[buffer]:
                free[clique] += sign * weight


class _Branching:
    """One search."""

    def __init__(self, problem: Assignment, meter: Meter, known: Homes | None) -> None:
        self._problem = problem
        self._meter = meter
        self._state = _State(problem)
        self._best = dict(known) if known is not None else None
        self._cost = problem.cost(known) if known is not None else 1 << 200
        sizes = problem.bytes
        self._order = sorted(range(len(sizes)), key=lambda buffer: (-sizes[buffer], buffer))
        self._complete = True

    def run(self) -> Assigned:
        """Search."""
        root = self._lower_bound(0, 0)
        self._descend(0, 0)
        return Assigned(
            homes=self._best,
            bound=self._cost if self._complete else min(root, self._cost),
            complete=self._complete,
        )

    def _descend(self, depth: int, spent: int) -> None:
        self._meter.spend(1 + len(self._order) - depth)
        if self._meter.over:
            self._complete = False
            return
        if self._lower_bound(depth, spent) >= self._cost:
            return
        if depth == len(self._order):
            self._best, self._cost = dict(self._state.homes), spent
            return
        buffer = self._order[depth]
        for pool in self._problem.options[buffer]:
            if self._state.take(buffer, pool):
                self._descend(depth + 1, spent + self._problem.costs[buffer][pool])
                self._state.give_back(buffer)

    def _lower_bound(self, depth: int, spent: int) -> int:
        """Return a cost that no completion is below."""
        rest = self._order[depth:]
        wanted: dict[int, tuple[str, int]] = {}
        for buffer in rest:
            choices = self._open(buffer)
            if not choices:
                return 1 << 200
            first = self._problem.costs[buffer][choices[0]]
            second = self._problem.costs[buffer][choices[1]] if len(choices) > 1 else 1 << 100
            wanted[buffer] = choices[0], second - first
            spent += first
        return spent + self._crowding_cost(wanted)

    def _open(self, buffer: int) -> list[str]:
        has_room = self._state.has_room
        return [pool for pool in self._problem.options[buffer] if has_room(buffer, pool)]

    def _crowding_cost(self, wanted: Mapping[int, tuple[str, int]]) -> int:
        """Return what it costs at least to move bytes out of pools where too many want to be."""
        charges = []
        for number, weights in enumerate(self._problem.weights):
            members: dict[str, list[tuple[float, int, int]]] = {}
            for buffer, weight in weights.items():
                if buffer in wanted and weight:
                    pool, regret = wanted[buffer]
                    members.setdefault(pool, []).append((regret / weight, weight, buffer))
            for pool, each in members.items():
                excess = sum(weight for _, weight, _ in each) - self._state.free[pool][number]
                if excess > 0:
                    charges.append((_least_charge(each, excess), [b for _, _, b in each]))
        total, charged = 0, set[int]()
        for charge, buffers in sorted(charges, reverse=True):
            if charged.isdisjoint(buffers):
                total += charge
                charged.update(buffers)
        return total


def _fewest(buffers: Sequence[int], weights: Mapping[int, int], excess: int) -> list[int]:
    """Leave out the lightest buffers as long as there is an excess; none if there never was."""
    part = list(buffers) if excess > 0 else []
    for buffer in sorted(part, key=weights.__getitem__):
        if weights[buffer] < excess:
            excess -= weights[buffer]
            part.remove(buffer)
    return part


def _least_charge(members: Sequence[tuple[float, int, int]], excess: int) -> int:
    charge = 0.0
    for regret, weight, _ in sorted(members):
        part = min(weight, excess)
        charge += regret * part
        excess -= part
        if not excess:
            break
    return int(charge * (1 - 1e-12))
