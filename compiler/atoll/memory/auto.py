"""The planner that is used unless another is asked for: cheapest homes, each pool packed exactly.

Blocks get homes by price first; then every pool is packed, greedily and by exact search. Where
a pool turns out too small for its blocks, these may not be there together any more, and homes
are sought again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from atoll.memory.answers import packings, plan_of
from atoll.memory.assignment import LARGEST, Assignment, Cut, Homes
from atoll.memory.blocks import Blocks, make_blocks
from atoll.memory.effort import Meter
from atoll.memory.greedy import Places, by_price, orders, repaired
from atoll.memory.ladder import Packed
from atoll.memory.pack import pack
from atoll.memory.packing import Offsets, Packing
from atoll.memory.packing_bound import packing_bound
from atoll.memory.problem import Answer, Infeasible, Problem
from atoll.memory.search import Engine

_ROUNDS = 64
"""Times that homes may be sought again."""


def plan_auto(
    problem: Problem, meter: Meter, engine: Engine, name: str = "auto", *, climbing: bool = True
) -> Answer:
    """Plan `problem` within what `meter` allows.

    Args:
        problem: well-formed.
        meter: what may be spent.
        engine: runs the exact search.
        name: that the plan bears.
        climbing: improve pools with too many blocks for exact search by changing their order.
    """
    whole = make_blocks(problem)
    return _Attempt(whole, Assignment(whole), meter, engine, name, climbing).run()


@dataclass(slots=True)
class _Attempt:
    """The state of planning one problem.

    Attributes:
        proven: all cuts were proven.
        bound: price that no plan is below.
    """

    whole: Blocks
    assignment: Assignment
    meter: Meter
    engine: Engine
    name: str
    climbing: bool
    proven: bool = True
    bound: int = 0
    greedy: Places | None = None
    greedy_done: bool = False
    blamed: tuple[int, ...] = ()
    tried: dict[tuple[str, tuple[int, ...]], Packed | None] = field(default_factory=dict)

    def run(self) -> Answer:
        homeless = self.assignment.homeless()
        if homeless:
            return self._infeasible(homeless, proven=True)
        for _ in range(_ROUNDS):
            homes = self._homes()
            if homes is None and self.proven:
                return self._infeasible(self._blamed(), proven=True)
            if homes is None:
                break
            packed = self._pack_all(homes)
            if packed is not None:
                return self._answer(homes, packed)
            if self.meter.over:
                break
        if self.fallback is None:
            return self._infeasible(self._blamed(), proven=False)
        cost_bound = self.assignment.prices.cost(self.bound)
        return plan_of(self.whole, self.fallback, self.name, cost_bound=cost_bound)

    def _blamed(self) -> tuple[int, ...]:
        """Return blocks that are too many, as few as are known."""
        alone = len(self.whole.problem.pools) == 1
        return _too_many(self.whole) or (self.blamed if alone else ())

    @property
    def fallback(self) -> Places | None:
        """The cheapest plan of the greedy orders."""
        if not self.greedy_done:
            self.greedy, self.greedy_done = self._greedy(), True
        return self.greedy

    def _greedy(self) -> Places | None:
        """Return the cheapest plan of the greedy orders."""
        best, least = None, 0
        for order in orders(self.whole):
            places = repaired(self.whole, order, by_price(self.whole))
            if places is None:
                continue
            price = self.assignment.prices.total({b: pool for b, (pool, _) in places.items()})
            if best is None or price < least:
                best, least = places, price
        return best

    def _homes(self) -> Homes | None:
        """Return the cheapest homes that no cut forbids, and raise the bound to their price."""
        homes = self.assignment.cheapest()
        if homes is not None:
            if self.proven:
                self.bound = self.assignment.prices.total(homes)
            return homes
        known = None
        if (not self.proven or len(self.whole.blocks) > LARGEST) and self.fallback is not None:
            known = {block: pool for block, (pool, _) in self.fallback.items()}
        with self.meter.share(0.5):
            found = self.assignment.search(self.meter, known)
        if self.proven:
            self.bound = max(self.bound, found.bound)
        if not found.complete:
            self.proven = False
        return found.homes

    def _pack_all(self, homes: Homes) -> Mapping[str, Packed] | None:
        """Pack every pool; forbid what does not fit."""
        hints = _hints(homes, self.greedy or {})
        packed: dict[str, Packed] = {}
        inside = packings(self.whole, homes)
        for number, (name, packing) in enumerate(inside.items()):
            with self.meter.share(1 / (len(inside) - number)):
                found = self._pack(packing, hints.get(name))
            if found is None or found.used > packing.pool.size:
                self._forbid(packing, found)
                return None
            packed[name] = found
        return packed

    def _pack(self, packing: Packing, hint: Offsets | None) -> Packed | None:
        key = packing.pool.name, packing.members
        if key not in self.tried:
            self.tried[key] = pack(packing, self.meter, self.engine, hint, climbing=self.climbing)
        return self.tried[key]

    def _forbid(self, packing: Packing, found: Packed | None) -> None:
        impossible = found is None or found.bound > packing.pool.size
        members = packing.members
        if found is not None and impossible:
            members = _fewer(packing)
        self.proven = self.proven and impossible
        self.blamed = members
        self.assignment.cuts.append(Cut(packing.pool.name, frozenset(members)))

    def _answer(self, homes: Homes, packed: Mapping[str, Packed]) -> Answer:
        places = {block: (pool, packed[pool].offsets[block]) for block, pool in homes.items()}
        bounds = {pool: each.bound for pool, each in packed.items()}
        cost_bound = self.assignment.prices.cost(self.bound)
        return plan_of(self.whole, places, self.name, bounds, cost_bound)

    def _infeasible(self, blocks: tuple[int, ...] | list[int], *, proven: bool) -> Infeasible:
        chosen = blocks or range(len(self.whole.blocks))
        names = tuple(name for block in chosen for name in self.whole.blocks[block].names)
        return Infeasible(problem=self.whole.problem, buffers=names, proven=proven)


def _hints(homes: Homes, fallback: Places) -> Mapping[str, Offsets]:
    """Return the offsets of a plan in each pool that `homes` fill with blocks of it only."""
    hints = {}
    for pool in set(homes.values()):
        members = [block for block, home in homes.items() if home == pool]
        places = [fallback.get(block, ("", 0)) for block in members]
        if all(home == pool for home, _ in places):
            hints[pool] = {b: offset for b, (_, offset) in zip(members, places, strict=True)}
    return hints


def _too_many(whole: Blocks) -> tuple[int, ...]:
    """Return the fewest blocks found that conflict and are more than all of their pools hold."""
    sizes = {pool.name: pool.size for pool in whole.problem.pools}
    found: tuple[int, ...] = ()
    for clique in whole.cliques:
        weights = Packing(whole, whole.problem.pools[0], clique).weights(clique, rounded=False)
        pools = {pool for block in clique for pool in whole.blocks[block].pools}
        excess = sum(weights.values()) - sum(sizes[pool] for pool in pools)
        part = list(clique)
        for block in sorted(clique, key=lambda each: weights[each]):
            if weights[block] < excess:
                excess -= weights[block]
                part.remove(block)
        if excess > 0 and (not found or len(part) < len(found)):
            found = tuple(part)
    return found


def _fewer(packing: Packing) -> tuple[int, ...]:
    """Return the fewest members of which the bound says that they are too many, else all."""
    members = packing.members
    for clique in packing.cliques:
        part = Packing(packing.whole, packing.pool, clique)
        if packing_bound(part) > packing.pool.size:
            members = min(members, clique, key=len)
    return members
