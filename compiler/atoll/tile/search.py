# SPDX-License-Identifier: Apache-2.0
"""The cheapest way to cut a network so that it fits a pool, by estimates: a shortest path.

Between two operators the state is which of the tensors that live there lie apart, in another pool.
A step is one operator as it is, or a chain of them in stripes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from atoll.ir.graph import Graph
from atoll.tile.cut import Cut, Tiling
from atoll.tile.ground import Ground, pieces_of, saved_bytes, stripe_bytes, stripe_copies
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

Apart = frozenset[str]


@dataclass(frozen=True, slots=True)
class Step:
    """How some operators run, and what that costs in cycles and in bytes."""

    end: int
    apart: Apart
    cycles: int
    made: Apart = frozenset()
    cut: Cut | None = None
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Path:
    """Steps from the first operator on; `apart` is all that ever lay apart."""

    cycles: int
    apart: Apart
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> "_Path":
        return _Path(self.cycles + step.cycles, self.apart | step.made, (*self.steps, step))


@dataclass
class Shapes:
    """What is known of the stripes of a network, whatever they take.

    Attributes:
        stripes: of chains, by begin, end and count; None where there are none.
        works: how operators make rows.
        chains: by begin and end.
        pieces: of them, by begin, end and count: shares of operators, and how many have each.
        bytes: of a network with some overlaps: what chains need, by begin, end, count, and what
            lies apart.
    """

    stripes: dict[tuple[int, int, int], tuple[Stripe, ...] | None] = field(default_factory=dict)
    works: Works = field(default_factory=dict)
    chains: dict[tuple[int, int], Chain] = field(default_factory=dict)
    pieces: dict[tuple[int, int, int], Mapping[tuple[str, float], int]] = field(
        default_factory=dict
    )
    bytes: dict[tuple[int, int, int, Apart], int] = field(default_factory=dict)


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
    return replace(_shapes(ground.network), bytes={})


@dataclass
class TilingSearch:
    """Finds ways to cut one network for pools of several sizes."""

    ground: Ground
    _shapes: Shapes = field(init=False)
    _cycles: dict[tuple[int, int, int, Apart], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find what is known of the network."""
        self._shapes = shapes_of(self.ground)

    def best(self, room: int) -> Tiling | None:
        """Return the cheapest way for a pool of `room` bytes, None if there is none."""
        ground = self.ground
        end = len(ground.network.operators)
        first = ground.live[0] & frozenset(ground.network.filled)
        reached: list[dict[Apart, _Path]] = [{} for _ in range(end + 1)]
        reached[0] = {apart: _Path(0, apart) for apart in self._subsets(first)}
        for number in range(end):
            for apart, path in reached[number].items():
                for step in self._steps(number, apart, room):
                    known = reached[step.end].get(step.apart)
                    if known is None or path.cycles + step.cycles < known.cycles:
                        reached[step.end][step.apart] = path.then(step)
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
        if moved and op.name not in ground.host_cycles:
            return
        cycles = (ground.host_cycles if moved else ground.costs.whole)[op.name]
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
                yield Step(number + 1, after, cycles, made, moved=names)

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
                    yield Step(end, after, self._striped_cycles(chain, count, lie), made, cut)
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

    def _striped_cycles(self, chain: Chain, count: int, apart: Apart) -> int:
        """Return the cycles of a chain in stripes."""
        key = chain.begin, chain.end, count, apart
        if key not in self._cycles:
            stripes, costs = self._cut(chain.begin, chain.end, count) or (), self.ground.costs
            copying = sum(stripe_copies(self.ground, chain, each, apart) for each in stripes)
            pieces = self._pieces(chain, count, stripes).items()
            computing = sum(number * costs.piece(*piece) for piece, number in pieces)
            self._cycles[key] = computing + copying
        return self._cycles[key]

    def _pieces(
        self, chain: Chain, count: int, stripes: tuple[Stripe, ...]
    ) -> Mapping[tuple[str, float], int]:
        """Return the shares of operators that stripes have, and how many have each."""
        known, key = self._shapes.pieces, (chain.begin, chain.end, count)
        if key not in known:
            network = self.ground.network
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
