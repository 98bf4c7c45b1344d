"""Place blocks one after the other, each at the lowest free offset of its best pool with room."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from atoll.memory.blocks import Blocks
from atoll.memory.packing import Packing
from atoll.memory.problem import Interval, PoolSpace

Places = Mapping[int, tuple[str, int]]
"""Pool and offset, by number of the block."""

Pools = Mapping[int, Sequence[str]]
"""The pools that a block may be in, best first, by number of the block."""

_REPAIRS = 16
"""Times that an order may be retried with the block that did not fit moved to the front."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What orders are made of.

    Attributes:
        size, alignment: of the block.
        length: steps in which it is live.
        degree: how many blocks it conflicts with.
        first, last: step in which its life begins and ends.
    """

    size: int
    alignment: int
    length: int
    degree: int
    first: int
    last: int


Order = Callable[[Traits], tuple[int, ...]]

BY_SIZE: Order = lambda t: (-t.size, t.first)  # noqa: E731
BY_CONFLICTS: Order = lambda t: (-t.degree, -t.size)  # noqa: E731
ORDERS: tuple[Order, ...] = (
    BY_SIZE,
    lambda t: (-t.size * t.length, -t.size),
    lambda t: (-t.length, -t.size),
    lambda t: (t.first, -t.size),
    lambda t: (-t.last, -t.size),
    lambda t: (-t.alignment, -t.size),
    BY_CONFLICTS,
)


@dataclass(slots=True)
class Shelf:
    """A pool that is being filled."""

    whole: Blocks
    pool: PoolSpace
    offsets: dict[int, int] = field(default_factory=dict)
    _fixed: dict[int, list[Interval]] = field(default_factory=dict)

    def place(self, block: int) -> bool:
        """Put a block at the lowest offset that is free, if there is one within the pool."""
        offset = self._lowest(block)
        if offset is None or offset + self.whole.blocks[block].size > self.pool.size:
            return False
        self.offsets[block] = offset
        return True

    def _lowest(self, block: int) -> int | None:
        bare = Packing(self.whole, self.pool, ())
        spans = sorted((*self._forbidden(block, bare), *self._taken(block)))
        pinned = self.whole.blocks[block].offset
        if pinned is not None:
            free = not any(begin <= pinned < end for begin, end in spans)
            return pinned if free and pinned == bare.aligned(block, pinned) else None
        return bare.lifted(block, 0, spans)

    def _forbidden(self, block: int, bare: Packing) -> list[Interval]:
        if not self.pool.reserved and not self.pool.bank:
            return []
        if block not in self._fixed:
            self._fixed[block] = bare.forbidden(block)
        return self._fixed[block]

    def _taken(self, block: int) -> Iterator[Interval]:
        """Yield the offsets at which `block` would clash with one that is placed."""
        whole, offsets, blocks = self.whole, self.offsets, self.whole.blocks
        for other in whole.neighbours[block]:
            if other in offsets:
                offset = offsets[other]
                if whole.nearer:
                    below, above = whole.separation(block, other), whole.separation(other, block)
                else:
                    below, above = blocks[block].size, blocks[other].size
                if below + above > 1:
                    yield offset - below + 1, offset + above


def orders(whole: Blocks, keys: Iterable[Order] = ORDERS) -> Iterator[list[int]]:
    """Yield orders of all blocks; those with a pinned offset come first."""
    traits = [_traits(whole, block) for block in range(len(whole.blocks))]
    for key in keys:
        yield sorted(
            range(len(traits)),
            key=lambda block: (whole.blocks[block].offset is None, key(traits[block]), block),
        )


def _traits(whole: Blocks, number: int) -> Traits:
    block = whole.blocks[number]
    return Traits(
        size=block.size,
        alignment=block.alignment,
        length=sum(end - begin for begin, end in block.live),
        degree=len(whole.neighbours[number]),
        first=block.live[0][0] if block.live else 0,
        last=block.live[-1][1] if block.live else 0,
    )


def fill(whole: Blocks, order: Sequence[int], pools: Pools) -> tuple[Places, int | None]:
    """Place blocks in `order`; stop at the first that finds no room.

    Returns:
        What is placed, and the block that is not.
    """
    shelves = {pool.name: Shelf(whole, pool) for pool in whole.problem.pools}
    places: dict[int, tuple[str, int]] = {}
    for block in order:
        barred = {
            places[other][0]
            for group in whole.apart
            if block in group
            for other in group
            if other in places
        }
        for pool in pools[block]:
            if pool not in barred and shelves[pool].place(block):
                places[block] = pool, shelves[pool].offsets[block]
                break
        else:
            return places, block
    return places, None


def repaired(whole: Blocks, order: Sequence[int], pools: Pools) -> Places | None:
    """Place in `order`; move each block that found no room to the front and try again."""
    places, stuck = fill(whole, order, pools)
    for _ in range(_REPAIRS):
        if stuck is None or stuck == order[0]:
            break
        order = [stuck, *(block for block in order if block != stuck)]
        places, stuck = fill(whole, order, pools)
    return places if stuck is None else None


def by_price(whole: Blocks) -> Pools:
    """Return each block's pools, the cheapest first."""
    return {
        number: [pool for _, pool in sorted(zip(block.costs, block.pools, strict=True), key=_price)]
        for number, block in enumerate(whole.blocks)
    }


def _price(choice: tuple[tuple[int, int], str]) -> tuple[int, int]:
    return choice[0]


def without_limit(whole: Blocks, size: int) -> Blocks:
    """Return the same blocks in pools of another size."""
    pools = tuple(replace(pool, size=size) for pool in whole.problem.pools)
    return replace(whole, problem=replace(whole.problem, pools=pools))
