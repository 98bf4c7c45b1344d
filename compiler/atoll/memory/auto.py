# SPDX-License-Identifier: Apache-2.0
"""The planner that is used unless another is asked for: cheapest homes, each pool packed exactly.

Buffers get homes by cost first; then every pool is packed, greedily and by exact search. Where
a pool turns out too small for its buffers, these may not be there together any more, and homes
are sought again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from atoll.memory.assignment import LARGEST, Assignment, Cut
from atoll.memory.build_plan import Homes, build_plan, packings
from atoll.memory.conflicts import ConflictGraph, conflict_graph
from atoll.memory.effort import Meter
from atoll.memory.greedy import Places, orders, place_with_repairs
from atoll.memory.ladder import Packed
from atoll.memory.pack import pack
from atoll.memory.packing import Offsets, Packing
from atoll.memory.problem import Answer, Infeasible, MemoryPlan, Problem
from atoll.memory.resident_block import blocks_of
from atoll.records import dataclass

_ROUNDS = 64
"""Times that homes may be sought again."""


def plan_auto(
    problem: Problem, meter: Meter, name: str = "auto", *, climbing: bool = True
) -> Answer:
    """Plan `problem` within what `meter` allows.

    Args:
        problem: well-formed.
        meter: what may be spent.
        name: that the plan bears.
        climbing: improve pools with too many buffers for exact search by changing their order.
    """
    blocks = blocks_of(problem)
    if blocks.blocks:
        answer = _plan(blocks.fewer, meter, name, climbing=climbing)
        if isinstance(answer, MemoryPlan):
            return blocks.expand(answer)
    return _plan(problem, meter, name, climbing=climbing)


def _plan(problem: Problem, meter: Meter, name: str, *, climbing: bool) -> Answer:
    graph = conflict_graph(problem)
    return _Attempt(graph, Assignment(graph), meter, name, climbing).run()


@dataclass(slots=True)
class _Attempt:
    """The state of planning one problem.

    Attributes:
        proven: all cuts were proven.
        bound: cost that no plan is below.
        greedy: the cheapest plan of the greedy orders, once that was sought.
    """

    graph: ConflictGraph
    assignment: Assignment
    meter: Meter
    name: str
    climbing: bool
    proven: bool = True
    bound: int = 0
    greedy: Places | None = None
    greedy_done: bool = False
    blamed: tuple[int, ...] = ()
    tried: dict[tuple[str, tuple[int, ...]], Packed] = field(default_factory=dict)

    def run(self) -> Answer:
        homeless = self.assignment.homeless()
        if homeless:
            return self._infeasible(homeless, proven=True)
        if crowd := self.assignment.crowd():
            return self._infeasible(crowd, proven=True)
        for _ in range(_ROUNDS):
            homes = self._homes()
            if homes is None and self.proven:
                return self._infeasible(self._find_to_blame(), proven=True)
            if homes is None:
                break
            packed = self._pack_all(homes)
            if packed is not None:
                return self._answer(homes, packed)
            if self.meter.over:
                break
        if self.fallback is None:
            return self._infeasible(self._find_to_blame(), proven=False)
        return build_plan(self.graph, self.fallback, self.name, cost_bound=self.bound)

    def _find_to_blame(self) -> tuple[int, ...]:
        """Return buffers that have no plan on their own, if any are known."""
        return self.blamed if len(self.graph.problem.pools) == 1 else ()

    @property
    def fallback(self) -> Places | None:
        """The cheapest plan of the greedy orders."""
        if not self.greedy_done:
            plans = list(self._greedy_plans())
            self.greedy, self.greedy_done = min(plans, key=self._cost, default=None), True
        return self.greedy

    def _greedy_plans(self) -> Iterator[Places]:
        for order in orders(self.graph):
            places = place_with_repairs(self.graph, order, lambda: self.meter.late)
            if places is not None:
                yield places
            if self.meter.late:
                break

    def _cost(self, places: Places) -> int:
        return self.assignment.cost({number: pool for number, (pool, _) in places.items()})

    def _homes(self) -> Homes | None:
        """Return the cheapest homes that no cut forbids, and raise the bound to their cost."""
        homes = self.assignment.cheapest()
        if homes is not None:
            if self.proven:
                self.bound = self.assignment.cost(homes)
            return homes
        known = None
        if (not self.proven or len(self.graph.buffers) > LARGEST) and self.fallback is not None:
            known = {number: pool for number, (pool, _) in self.fallback.items()}
        with self.meter.share(0.5):
            found = self.assignment.search(self.meter, known)
        if self.proven:
            self.bound = max(self.bound, found.bound)
        if not found.complete:
            self.proven = False
        return found.homes

    def _pack_all(self, homes: Homes) -> Mapping[str, Packed] | None:
        """Pack every pool; forbid what does not fit."""
        packed: dict[str, Packed] = {}
        inside = packings(self.graph, homes)
        for number, (name, packing) in enumerate(inside.items()):
            with self.meter.share(1 / (len(inside) - number)):
                found = self._pack(packing)
            if found.used > packing.pool.size:
                self._forbid(packing, found)
                return None
            packed[name] = found
        return packed

    def _pack(self, packing: Packing) -> Packed:
        key = packing.pool.name, packing.members
        if key not in self.tried:
            hint = self._hint(packing)
            self.tried[key] = pack(packing, self.meter, hint, climbing=self.climbing)
        return self.tried[key]

    def _hint(self, packing: Packing) -> Offsets | None:
        """Return the offsets in the greedy plan, if it has all members in this pool."""
        places = [(self.greedy or {}).get(member, ("", 0)) for member in packing.members]
        if any(pool != packing.pool.name for pool, _ in places):
            return None
        return dict(zip(packing.members, (offset for _, offset in places), strict=True))

    def _forbid(self, packing: Packing, found: Packed) -> None:
        impossible = found.bound > packing.pool.size
        self.blamed = _fewer(self._low(packing)) if impossible else packing.members
        self.proven = self.proven and impossible
        self.assignment.cuts.append(Cut(packing.pool.name, frozenset(self.blamed)))

    def _low(self, packing: Packing) -> Packing:
        """Return the members with ceilings, if they do not fit by themselves; else all."""
        low = replace(packing, members=tuple(packing.ceilings))
        if not low.members or len(low.members) == len(packing.members):
            return packing
        with self.meter.share(0.5):
            found = self._pack(low)
        return low if found.bound > packing.pool.size else packing

    def _answer(self, homes: Homes, packed: Mapping[str, Packed]) -> Answer:
        places = {number: (pool, packed[pool].offsets[number]) for number, pool in homes.items()}
        bounds = {pool: each.bound for pool, each in packed.items()}
        return build_plan(self.graph, places, self.name, bounds, self.bound)

    def _infeasible(self, numbers: Sequence[int], *, proven: bool) -> Infeasible:
        chosen = numbers or range(len(self.graph.buffers))
        names = tuple(self.graph.buffers[number].name for number in chosen)
        return Infeasible(problem=self.graph.problem, buffers=names, proven=proven)


def _fewer(packing: Packing) -> tuple[int, ...]:
    """Return the fewest members of which the bound says that they are too many, else all."""
    members = packing.members
    for clique in packing.cliques:
        if Packing(packing.graph, packing.pool, clique).bound > packing.pool.size:
            members = min(members, clique, key=len)
    return members
