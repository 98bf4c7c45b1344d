# SPDX-License-Identifier: Apache-2.0
"""The cheapest way to cut a network so that it fits a pool, by estimates: a shortest path.

Between two operators the state is which of the tensors that live there lie apart, in another pool.
A step is one operator as it is, or a chain of them in stripes.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field, replace
from itertools import combinations

from atoll.ir.graph import Graph
from atoll.records import dataclass
from atoll.tile.cut import Cut, Tiling
from atoll.tile.ground import Ground, pieces_of, saved_bytes, stripe_bytes
from atoll.tile.stripes import Chain, Stripe, Works, stripes_of
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)
"""Numbers of stripes that are tried."""

FEWEST = 2
"""Numbers of stripes that are weighed of those that fit, since rows do not divide alike."""

LONGEST = 24
"""Operators of a chain."""

NETWORKS_AT_HAND = 8
"""Networks whose stripes a process keeps; those of some hundred operators take 20 MB."""

ROOMS_AT_HAND = 8
"""Rooms for which it keeps what fits."""

Apart = frozenset[str]


@dataclass(frozen=True, slots=True)
class Step:
    """How some operators run.

    Attributes:
        end: number of the operator that follows.
        apart: what lies apart behind it.
        made: of that, what it makes.
        cut: of a chain in stripes, None of one operator as it is.
        lie: what lies apart of the tensors of a chain.
        moved: the operator if it runs on the host instead of its device.
    """

    end: int
    apart: Apart
    made: Apart = frozenset()
    cut: Cut | None = None
    lie: Apart = frozenset()
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Path:
    """Steps from the first operator on; `apart` is all that ever lay apart."""

    cycles: int
    apart: Apart
    steps: tuple[Step, ...] = ()


Ways = dict[tuple[int, Apart], tuple[Step, ...]]
"""The steps that fit, by the number of an operator and what lies apart before it."""


@dataclass
class Shapes:
    """What is known of the stripes of a network, whatever they take.

    Attributes:
        stripes: of chains, by begin, end and count; None where there are none.
        works: how operators make rows.
        chains: by begin and end.
        pieces: of them, by begin, end and count: shares of operators, and how many have each.
        rows: likewise, of each tensor: how many stripes copy how many of its rows where it lies
            apart.
        bytes: of a network with some overlaps: what chains need, by begin, end, count, and what
            lies apart.
        ways: likewise, for a room and what a chip allows, the last few.
    """

    stripes: dict[tuple[int, int, int], tuple[Stripe, ...] | None] = field(default_factory=dict)
    works: Works = field(default_factory=dict)
    chains: dict[tuple[int, int], Chain] = field(default_factory=dict)
    pieces: dict[tuple[int, int, int], Mapping[tuple[str, float], int]] = field(
        default_factory=dict
    )
    rows: dict[tuple[int, int, int, str], Mapping[int, int]] = field(default_factory=dict)
    bytes: dict[tuple[int, int, int, Apart], int] = field(default_factory=dict)
    ways: dict[Hashable, Ways] = field(default_factory=dict)

    def ways_for(self, key: Hashable) -> Ways:
        """Return the steps that are known under a key, to be added to."""
        while key not in self.ways and len(self.ways) >= ROOMS_AT_HAND:
            del self.ways[next(iter(self.ways))]
        return self.ways.setdefault(key, {})


def _network(network: Graph) -> Alike | None:
    if len(network.operators) > MOST_OPERATORS:
        return None
    return Alike((network.name, len(network.operators)), network)


@remember(_network, most=NETWORKS_AT_HAND)
def _shapes(network: Graph) -> Shapes:
    """Return what is known of a network, to be added to."""
    return Shapes()


def _overlapping(ground: Ground) -> Alike | None:
    if len(ground.network.operators) > MOST_OPERATORS:
        return None
    return Alike(_network(ground.network), ground.overlaps)


@remember(_overlapping, most=2 * NETWORKS_AT_HAND)
def shapes_of(ground: Ground) -> Shapes:
    """Return what is known of a network with some overlaps; without these, it is shared."""
    return replace(_shapes(ground.network), bytes={}, ways={})


@dataclass
class TilingSearch:
    """Finds ways to cut one network for pools of several sizes."""

    ground: Ground
    _shapes: Shapes = field(init=False)
    _computing: dict[tuple[int, int, int], int] = field(default_factory=dict)
    _copying: dict[tuple[int, int, int, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find what is known of the network."""
        self._shapes = shapes_of(self.ground)

    def best(self, room: int) -> Tiling | None:
        """Return the cheapest way for a pool of `room` bytes, None if there is none."""
        ground, ways = self.ground, self._shapes.ways_for((room, self.ground.allowed))
        end = len(ground.network.operators)
        first = ground.live[0] & frozenset(ground.network.filled)
        reached: list[dict[Apart, _Path]] = [{} for _ in range(end + 1)]
        reached[0] = {apart: _Path(0, apart) for apart in self._subsets(first)}
        for number in range(end):
            for apart, path in reached[number].items():
                key = number, apart
                if key not in ways:
                    ways[key] = tuple(self._steps(number, apart, room))
                for step in ways[key]:
                    cycles = path.cycles + self._step_cycles(number, step)
                    known = reached[step.end].get(step.apart)
                    if known is None or cycles < known.cycles:
                        ever, steps = path.apart | step.made, (*path.steps, step)
                        reached[step.end][step.apart] = _Path(cycles, ever, steps)
        best = min(reached[end].values(), key=lambda each: each.cycles, default=None)
        return self._tiling(best) if best else None

    def _tiling(self, path: "_Path") -> Tiling:
        pools = {name: self.ground.apart(name) for name in sorted(path.apart)}
        host = self.ground.soc.host
        return Tiling(
            cuts=tuple(step.cut for step in path.steps if step.cut),
            apart={name: pool for name, pool in pools.items() if pool},
            devices={name: host for step in path.steps for name in step.moved},
        )

    def _subsets(self, names: frozenset[str]) -> Iterator[Apart]:
        """Yield what may lie apart of some tensors."""
        possible = sorted(name for name in names if self.ground.apart(name))
        for count in range(min(2, len(possible)) + 1):
            yield from map(frozenset, combinations(possible, count))

    def _steps(self, number: int, apart: Apart, room: int) -> Iterator[Step]:
        yield from self._whole(number, apart, room)
        for end in range(number + 1, min(len(self.ground.network.operators), number + LONGEST) + 1):
            if self._cut(number, end, 2) is None:
                return
            yield from self._chains(number, end, apart, room)

    def _whole(self, number: int, apart: Apart, room: int) -> Iterator[Step]:
        """Yield the operator as it is; what reads a tensor that lies apart runs on the host."""
        ground = self.ground
        op = ground.network.operators[number]
        beyond = not apart.isdisjoint(op.reads)
        moved = beyond and not ground.on_host(op)
        if moved and op.name not in ground.movable:
            return
        live = {name: ground.size(name) for name in ground.live[number] - apart}
        results = [name for name in op.outputs if name in ground.held]
        free = self._subsets(frozenset(results)) if ground.on_host(op) else [frozenset[str]()]
        for made in free:
            held = live | {name: ground.size(name) for name in results if name not in made}
            ending = [name for name in live if ground.last[name] <= number]
            most = sum(held.values())
            if len(results) == 1 and results[0] in held:
                most -= saved_bytes(ground, op, results[0], held, ending)
            if most <= room:
                after = (apart | made) & ground.live[number + 1]
                names = (op.name,) if moved else ()
                yield Step(number + 1, after, made, moved=names)

    def _chains(self, begin: int, end: int, apart: Apart, room: int) -> Iterator[Step]:
        """Yield a chain in stripes that fit, for each choice of what lies apart."""
        ground = self.ground
        chain = self._chain(begin, end)
        around = sum(ground.size(name) for name in ground.live[begin] - apart)
        for made in self._subsets(frozenset(chain.needed) & ground.held):
            whole = sum(ground.size(name) for name in chain.needed if name not in made)
            if around + whole > room:
                continue
            fitting = 0
            for count in COUNTS:
                lie = made | (apart & frozenset(chain.read))
                most = self._most(chain, count, lie)
                if most is None:
                    break
                if around + whole + most <= room:
                    after = (apart | made) & ground.live[end]
                    cut = Cut(begin=begin, end=end, stripes=count)
                    yield Step(end, after, made, cut, lie)
                    fitting += 1
                if fitting == FEWEST:
                    break

    def _chain(self, begin: int, end: int) -> Chain:
        known, key = self._shapes, (begin, end)
        if key not in known.chains:
            known.chains[key] = Chain(self.ground.network, begin, end, known.works)
        return known.chains[key]

    def _most(self, chain: Chain, count: int, apart: Apart) -> int | None:
        """Return the bytes of a chain in stripes, None if it cannot be cut so."""
        known, key = self._shapes.bytes, (chain.begin, chain.end, count, apart)
        if key not in known:
            stripes = self._cut(chain.begin, chain.end, count)
            if stripes is None:
                return None
            known[key] = max(stripe_bytes(self.ground, chain, each, apart) for each in stripes)
        return known[key]

    def _step_cycles(self, number: int, step: Step) -> int:
        """Return what a step from an operator on takes."""
        if step.cut:
            place = number, step.end, step.cut.stripes
            cycles = self._computing.get(place)
            if cycles is None:
                cycles = self._computing[place] = self._compute_cycles(*place)
            return cycles + sum(self._copy_cycles(*place, name) for name in step.lie)
        name = self.ground.network.operators[number].name
        return (self.ground.host_cycles if step.moved else self.ground.costs.whole)[name]

    def _compute_cycles(self, begin: int, end: int, count: int) -> int:
        """Return the cycles of a chain in stripes without copies."""
        piece, pieces = self.ground.costs.piece, self._pieces(begin, end, count).items()
        return sum(number * piece(*each) for each, number in pieces)

    def _copy_cycles(self, begin: int, end: int, count: int, name: str) -> int:
        """Return the cycles of the copies of a tensor that lies apart."""
        key = begin, end, count, name
        if key not in self._copying:
            rows = self._rows(begin, end, count, name).items()
            copies = (number * self.ground.copy_cycles(name, each) for each, number in rows)
            self._copying[key] = sum(copies)
        return self._copying[key]

    def _rows(self, begin: int, end: int, count: int, name: str) -> Mapping[int, int]:
        """Return the rows that stripes copy of a tensor, and how many stripes copy as many."""
        known, key = self._shapes.rows, (begin, end, count, name)
        if key not in known:
            made = name in self._chain(begin, end).made
            spans = [
                each.given if made else each.rows for each in self._cut(begin, end, count) or ()
            ]
            known[key] = Counter(each[name][1] - each[name][0] for each in spans if name in each)
        return known[key]

    def _pieces(self, begin: int, end: int, count: int) -> Mapping[tuple[str, float], int]:
        """Return the shares of operators that stripes have, and how many have each."""
        known, key = self._shapes.pieces, (begin, end, count)
        if key not in known:
            network, chain = self.ground.network, self._chain(begin, end)
            stripes = self._cut(begin, end, count) or ()
            known[key] = Counter(
                piece for each in stripes for piece in pieces_of(network, chain, each)
            )
        return known[key]

    def _cut(self, begin: int, end: int, count: int) -> tuple[Stripe, ...] | None:
        """Return the stripes of a chain, None if it cannot be cut so."""
        known, key = self._shapes.stripes, (begin, end, count)
        if key not in known:
            chain = self._chain(begin, end)
            heights = [self.ground.network.tensor(name).shape[1:2] for name in chain.needed]
            possible = heights and all(height and height[0] >= count for height in heights)
            known[key] = stripes_of(chain, count) if possible else None
        return known[key]
