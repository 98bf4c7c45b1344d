"""Choose which block lives in which pool: least price with which the live bytes fit every pool.

Branch and bound over blocks. The bound lets every block have its cheapest pool, and adds what it
costs to move the bytes out that are too many at one moment, split as if blocks were divisible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atoll.memory.blocks import Blocks
from atoll.memory.effort import Meter
from atoll.memory.packing import Packing

Homes = Mapping[int, str]
"""Pool by number of the block."""

LARGEST = 400
"""Most blocks that are assigned exactly."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Blocks that do not fit into a pool together."""

    pool: str
    blocks: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """What the search for homes found.

    Attributes:
        homes: the cheapest that it found, or None.
        bound: price that no homes are below.
        complete: it looked everywhere; None means that there are none.
    """

    homes: Homes | None
    bound: int
    complete: bool


class Prices:
    """Prices as one number: cost, then bytes in later candidates."""

    def __init__(self, whole: Blocks) -> None:
        moved = (max((b for _, b in block.costs), default=0) for block in whole.blocks)
        self._unit = 1 + sum(moved)
        self.of = [
            {
                pool: cost * self._unit + bytes_
                for pool, (cost, bytes_) in zip(block.pools, block.costs, strict=True)
            }
            for block in whole.blocks
        ]

    def total(self, homes: Homes) -> int:
        """Return the price of all homes."""
        return sum(self.of[block][pool] for block, pool in homes.items())

    def cost(self, price: int) -> int:
        """Return the cost that a price or a bound of prices amounts to."""
        return price // self._unit


class Assignment:
    """Finds homes for the blocks of a problem, with cuts that grow."""

    def __init__(self, whole: Blocks) -> None:
        self._whole = whole
        self.prices = Prices(whole)
        self._sizes = {pool.name: pool.size for pool in whole.problem.pools}
        self._options = [self._possible(block) for block in range(len(whole.blocks))]
        everything = Packing(whole, whole.problem.pools[0], tuple(range(len(whole.blocks))))
        self._weights = [everything.weights(clique, rounded=False) for clique in whole.cliques]
        self._cliques_of: list[list[int]] = [[] for _ in whole.blocks]
        for number, clique in enumerate(whole.cliques):
            for block in clique:
                self._cliques_of[block].append(number)
        self._apart: list[set[int]] = [set() for _ in whole.blocks]
        for group in whole.apart:
            for block in group:
                self._apart[block] |= set(group) - {block}
        self.cuts: list[Cut] = []

    def homeless(self) -> list[int]:
        """Return the blocks that fit no pool even alone."""
        return [block for block, options in enumerate(self._options) if not options]

    def cheapest(self) -> Homes | None:
        """Return every block's cheapest pool, if the live bytes then fit and no cut forbids it."""
        homes = {block: options[0] for block, options in enumerate(self._options)}
        state = _State(self)
        return homes if all(state.take(block, pool) for block, pool in homes.items()) else None

    def search(self, meter: Meter, known: Homes | None) -> Assigned:
        """Return the cheapest homes.

        Args:
            meter: what may be spent; one node for each block that is tried.
            known: homes that fit.
        """
        if len(self._options) > LARGEST:
            return Assigned(homes=known, bound=self._floor(), complete=False)
        return _Branching(self, meter, known).run()

    def _floor(self) -> int:
        return sum(self.prices.of[b][options[0]] for b, options in enumerate(self._options))

    def _possible(self, block: int) -> list[str]:
        """Return the pools that could hold a block alone, the cheapest first."""
        whole, pools = self._whole, []
        item = whole.blocks[block]
        for pool in whole.problem.pools:
            bare = Packing(whole, pool, ())
            if pool.name in item.pools:
                lowest = item.offset
                if lowest is None:
                    lowest = bare.lifted(block, 0, bare.forbidden(block))
                if lowest + item.size <= pool.size:
                    pools.append(pool.name)
        return sorted(pools, key=lambda pool: self.prices.of[block][pool])


class _State:
    """A partial choice: free bytes of each pool in each clique."""

    def __init__(self, problem: Assignment) -> None:
        self._problem = problem
        self.free = {pool: [size] * len(problem._weights) for pool, size in problem._sizes.items()}
        self.homes: dict[int, str] = {}

    def take(self, block: int, pool: str) -> bool:
        """Give `block` a home, if that is possible."""
        problem = self._problem
        free = self.free[pool]
        if any(self.homes.get(other) == pool for other in problem._apart[block]):
            return False
        cliques = problem._cliques_of[block]
        if any(free[c] < problem._weights[c][block] for c in cliques):
            return False
        self.homes[block] = pool
        if any(
            cut.pool == pool
            and block in cut.blocks
            and all(self.homes.get(other) == pool for other in cut.blocks)
            for cut in problem.cuts
        ):
            del self.homes[block]
            return False
        for c in cliques:
            free[c] -= problem._weights[c][block]
        return True

    def give_back(self, block: int) -> None:
        """Undo `take`."""
        pool = self.homes.pop(block)
        for c in self._problem._cliques_of[block]:
            self.free[pool][c] += self._problem._weights[c][block]


class _Branching:
    """One search."""

    def __init__(self, problem: Assignment, meter: Meter, known: Homes | None) -> None:
        self._problem = problem
        self._meter = meter
        self._state = _State(problem)
        self._best = dict(known) if known is not None else None
        self._price = problem.prices.total(known) if known is not None else 1 << 200
        sizes = [block.size for block in problem._whole.blocks]
        self._order = sorted(range(len(sizes)), key=lambda block: (-sizes[block], block))
        self._complete = True

    def run(self) -> Assigned:
        """Search."""
        root = self._bound(0, 0)
        self._descend(0, 0)
        return Assigned(
            homes=self._best,
            bound=self._price if self._complete else min(root, self._price),
            complete=self._complete,
        )

    def _descend(self, depth: int, spent: int) -> None:
        self._meter.spend(1 + len(self._order) - depth)
        if self._meter.over:
            self._complete = False
            return
        if self._bound(depth, spent) >= self._price:
            return
        if depth == len(self._order):
            self._best, self._price = dict(self._state.homes), spent
            return
        block = self._order[depth]
        for pool in self._problem._options[block]:
            if self._state.take(block, pool):
                self._descend(depth + 1, spent + self._problem.prices.of[block][pool])
                self._state.give_back(block)

    def _bound(self, depth: int, spent: int) -> int:
        """Return a price that no completion is below."""
        rest = self._order[depth:]
        wanted: dict[int, tuple[str, int]] = {}
        for block in rest:
            choices = self._open(block)
            if not choices:
                return 1 << 200
            first = self._problem.prices.of[block][choices[0]]
            second = self._problem.prices.of[block][choices[1]] if len(choices) > 1 else 1 << 100
            wanted[block] = choices[0], second - first
            spent += first
        return spent + self._crowding(wanted)

    def _open(self, block: int) -> list[str]:
        problem, state = self._problem, self._state
        cliques = problem._cliques_of[block]
        return [
            pool
            for pool in problem._options[block]
            if all(state.free[pool][c] >= problem._weights[c][block] for c in cliques)
        ]

    def _crowding(self, wanted: Mapping[int, tuple[str, int]]) -> int:
        """Return what it costs at least to move bytes out of pools where too many want to be."""
        charges = []
        for number, weights in enumerate(self._problem._weights):
            members: dict[str, list[tuple[float, int, int]]] = {}
            for block, weight in weights.items():
                if block in wanted and weight:
                    pool, regret = wanted[block]
                    members.setdefault(pool, []).append((regret / weight, weight, block))
            for pool, each in members.items():
                excess = sum(weight for _, weight, _ in each) - self._state.free[pool][number]
                if excess > 0:
                    charges.append((_least_charge(each, excess), [b for _, _, b in each]))
        total, charged = 0, set[int]()
        for charge, blocks in sorted(charges, reverse=True):
            if charged.isdisjoint(blocks):
                total += charge
                charged.update(blocks)
        return total


def _least_charge(members: Sequence[tuple[float, int, int]], excess: int) -> int:
    charge = 0.0
    for regret, weight, _ in sorted(members):
        part = min(weight, excess)
        charge += regret * part
        excess -= part
        if not excess:
            break
    return int(charge * (1 - 1e-12))
