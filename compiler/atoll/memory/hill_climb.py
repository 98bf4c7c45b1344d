"""Improve a greedy order step by step: move a block that is on top to an earlier place."""

from collections.abc import Sequence
from random import Random

from atoll.memory.blocks import Blocks
from atoll.memory.effort import Meter
from atoll.memory.greedy import Places, Pools, fill, orders

_PATIENCE = 400
"""Orders that are tried in a row without gain."""


def climb(whole: Blocks, pools: Pools, meter: Meter) -> Places | None:
    """Return the best plan found of the blocks in `pools`, None if no order fits."""
    random = Random(meter.effort.seed)
    started = [
        (inside, *fill(whole, inside, pools))
        for order in orders(whole)
        if (inside := [block for block in order if block in pools])
    ]
    if not started:
        return {}
    meter.spend(len(started) * len(pools))
    order, places, stuck = min(started, key=lambda each: _score(whole, each[1]))
    score, idle = _score(whole, places), 0
    while idle < _PATIENCE and not meter.over and len(order) > 1:
        changed = _changed(whole, order, places, stuck, random)
        new_places, new_stuck = fill(whole, changed, pools)
        meter.spend(len(order))
        new_score = _score(whole, new_places)
        idle = 0 if new_score < score else idle + 1
        if new_score <= score:
            order, places, stuck, score = changed, new_places, new_stuck, new_score
    return places if stuck is None else None


def _score(whole: Blocks, places: Places) -> tuple[int, int, int, int]:
    """Return a number that is less if more is placed, then price, then sum of used bytes."""
    tops: dict[str, int] = {}
    cost = moved = 0
    for number, (pool, offset) in places.items():
        block = whole.blocks[number]
        tops[pool] = max(tops.get(pool, 0), offset + block.size)
        price = block.costs[block.pools.index(pool)]
        cost, moved = cost + price[0], moved + price[1]
    return -len(places), cost, moved, sum(tops.values())


def _changed(
    whole: Blocks, order: Sequence[int], places: Places, stuck: int | None, random: Random
) -> list[int]:
    """Move the block that found no room, or one that ends highest, before a random one."""
    if stuck is None:
        ends = {n: offset + whole.blocks[n].size for n, (_, offset) in places.items()}
        top = max(ends.values())
        stuck = random.choice([number for number, end in ends.items() if end == top])
    if random.random() < 0.5:
        near = (block for block in whole.neighbours[stuck] if block in places)
        stuck = random.choice((stuck, *near))
    changed = [block for block in order if block != stuck]
    place = order.index(stuck)
    changed.insert(random.randrange(place) if place else random.randrange(len(order)), stuck)
    return changed
