"""Cut a network until it fits: the cheapest way that a compiler accepts, else the smallest pool.

What is found by estimates is compiled; where that needs more than there is, the next estimate is
for a pool that is a little smaller.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

from atoll.description.build import BuildRequests
from atoll.errors import AtollError, PlacementError, PlanError
from atoll.ir.graph import Graph, Operator
from atoll.place.plan_devices import plan_devices
from atoll.reach.candidates import candidate_pools
from atoll.resolve.soc import Pool, ResolvedSoc
from atoll.tile.costs import Ground
from atoll.tile.cut import Tiling, tiled
from atoll.tile.search import Found, Search, Stripes
from atoll.units import format_size

ROUNDS, SHARE = 8, 24
"""Compilations that are tried for one pool, each for less room by this share."""

STEPS = (1.0, 1.3)
"""How much larger than the least room by estimates those rooms are that may be the smallest."""

Result = TypeVar("Result")
Refusal = PlacementError | PlanError

_UNLIMITED = 1 << 40


@dataclass(frozen=True)
class Way(Generic[Result]):
    """A way to compile.

    Attributes:
        compiled: compiles a network that is cut for a chip.
        told: likewise, but says what is needed if that does not fit.
        overlaps: returns by how many bytes a result of an operator must lie below an operand that
            it may lie over, by the names of both.
    """

    compiled: Callable[[Graph, ResolvedSoc, Tiling], Result]
    told: Callable[[Graph, ResolvedSoc, Tiling], Result]
    overlaps: Callable[[Operator], Mapping[tuple[str, str], int]]


@dataclass(frozen=True)
class Fitting(Generic[Result]):
    """A network that does not fit a chip.

    Attributes:
        network: as it would be placed.
        soc: the chip.
        requests: what the user asks for.
        accelerators: whether operators may run on them.
        error: why it does not fit.
        ways: to compile; the last needs the least memory.
        cost: of what was compiled.
        needs: of each compilation that failed, the bytes of the pool that it needs, 0 if unknown.
    """

    network: Graph
    soc: ResolvedSoc
    requests: BuildRequests
    accelerators: bool
    error: Refusal
    ways: Sequence[Way[Result]]
    cost: Callable[[Result], int]
    needs: list[int] = field(default_factory=list)
    _stripes: Stripes = field(default_factory=dict)

    def fitted(self) -> Result | None:
        """Return what came out of the cheapest cuts that fit, None if none do."""
        made = [result for way in self.ways if (result := self._by(way)) is not None]
        return min(made, key=self.cost, default=None)

    def _by(self, way: Way[Result]) -> Result | None:
        if self.pool is None or (search := self._search(way)) is None:
            return None
        tried: set[str] = set()
        room = sum(self.soc.pool(name).room for name in search.ground.pools)
        for found in _candidates(search, room):
            if (name := str(found.tiling)) not in tried:
                tried.add(name)
                with suppress(PlacementError, PlanError):
                    return way.compiled(tiled(self.network, found.tiling), self.soc, found.tiling)
        return self._least(way, search) if way is self.ways[-1] else None

    def _least(self, way: Way[Result], search: Search) -> Result | None:
        """Try cuts that need least, and note what they do need."""
        for found in _least(search):
            try:
                return way.told(tiled(self.network, found.tiling), self.soc, found.tiling)
            except (PlacementError, PlanError) as error:
                self.needs.append(self._need(error) or self._need_of(found, way, search))
        return None

    def _need_of(self, found: Found, way: Way[Result], search: Search) -> int:
        """Return the bytes of the pool that some cuts need which have tensors larger than that."""
        assert self.pool is not None
        for step in STEPS:
            others = (each for each in search.ground.pools if each != self.pool.name)
            room = int(found.room * step) - sum(self.soc.pool(each).room for each in others)
            size = max(1, room) + self.pool.region.size - self.pool.room
            chip = _sized(self.soc, {self.pool.name}, size)
            try:
                way.told(tiled(self.network, found.tiling), chip, found.tiling)
            except (PlacementError, PlanError) as error:
                if need := self._need(error):
                    return need
            else:
                return size
        return 0

    @property
    def smallest(self) -> int | None:
        """The bytes of the smallest pool that cuts were found to need which did not fit."""
        return min((size for size in self.needs if size), default=None)

    @cached_property
    def pool(self) -> Pool | None:
        """The pool that is too small, None if that is not what is wrong."""
        wants = [key.split(".") for fault in self.error.faults for key, _ in fault.wants]
        names = dict.fromkeys(key[1] for key in wants if key[0] == "pools" and key[2:] == ["size"])
        pools = [pool for pool in self.soc.pools if pool.name in names and pool.role != "constants"]
        return pools[0] if pools else None

    @property
    def key(self) -> str:
        """The size of the pool, as a dotted key."""
        return f"pools.{self.pool.name}.size" if self.pool else ""

    def _need(self, error: Refusal) -> int:
        """Return the bytes of the pool with which all would fit, 0 if that is not known."""
        faults = [fault for fault in error.faults if fault.code == "E062"]
        wants = [want for fault in faults for want in fault.wants]
        return wants[0][1] if len(wants) == 1 and wants[0][0] == self.key else 0

    def _search(self, way: Way[Result]) -> Search | None:
        """Return the search for cuts of the network, None if it cannot be placed at all."""
        assert self.pool is not None
        roomy = _sized(self.soc, {pool.name for pool in self.soc.pools}, _UNLIMITED)
        try:
            plan = plan_devices(self.network, roomy, self.requests, accelerators=self.accelerators)
        except PlacementError:
            return None
        homes = candidate_pools(plan.graph, roomy)
        possible = {name: {*homes.get(name, ())} for name in self.network.by_name}
        alone = any(pools == {self.pool.name} for pools in possible.values())
        together = [pools for pools in possible.values() if self.pool.name in pools]
        pools = {self.pool.name} if alone else set[str]().union(*together)
        held = frozenset(name for name, each in possible.items() if each and each <= pools)
        devices = {op.name: op.device for op in plan.graph.operators}
        placed = frozenset(each.operator for each in plan.decisions if each.joined.constraints)
        overlaps = {
            op.name: way.overlaps(replace(op, device=devices[op.name]))
            for op in self.network.operators
        }
        asked = plan.requests.pools
        ground = Ground(self.network, self.soc, devices, pools, held, overlaps, placed, asked)
        return Search(ground, self._stripes)


def _candidates(search: Search, room: int) -> Iterator[Found]:
    """Yield ways for a room and for smaller ones: estimates are not exact."""
    for _ in range(ROUNDS):
        if found := search.best(room):
            yield found
        room -= room // SHARE


def _least(search: Search) -> Iterator[Found]:
    """Yield ways for rooms near the least one."""
    low, high = 0, sum(search.ground.sizes.values())
    if search.best(high) is None:
        return
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if search.best(middle) is None else (low, middle)
    for step in STEPS:
        if found := search.best(int(high * step)):
            yield found


def with_smallest(
    error: Refusal, whole: AtollError, fitting: Fitting[Result] | None
) -> Refusal | None:
    """Return an error that names the smallest pool with which a network fits if it is cut.

    None if it needs no less then.

    Args:
        error: why it does not fit.
        whole: the same with what it needs as it is.
        fitting: the ways to cut it.
    """
    size = fitting.smallest if fitting else None
    needed = dict(want for fault in whole.faults for want in fault.wants)
    if fitting is None or size is None or size >= needed.get(fitting.key, 0):
        return None
    made = type(error).all(
        replace(
            fault,
            message=f"{fault.message}; cut into stripes of rows, it needs {format_size(size)}",
            wants=((fitting.key, size),),
        )
        for fault in error.faults
    )
    assert isinstance(made, PlacementError | PlanError)
    return made


def _sized(soc: ResolvedSoc, names: set[str], size: int) -> ResolvedSoc:
    """Return a chip some of whose pools have a size."""
    pools = (
        replace(pool, region=replace(pool.region, size=size)) if pool.name in names else pool
        for pool in soc.pools
    )
    return replace(soc, pools=tuple(pools))
