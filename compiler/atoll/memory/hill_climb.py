# SPDX-License-Identifier: Apache-2.0
"""Improve a greedy order step by step: move a buffer that is on top to an earlier place."""

from collections.abc import Sequence
from random import Random

from atoll.memory.conflicts import ConflictGraph
from atoll.memory.effort import Meter
from atoll.memory.greedy import Places, Pools, fill, orders

_PATIENCE = 400
"""Orders that are tried in a row without gain."""


def climb(graph: ConflictGraph, pools: Pools, meter: Meter) -> Places | None:
    """Return the best plan found of the buffers in `pools`, None if no order fits."""
    random = Random(meter.effort.seed)
    started = [
        (inside, *fill(graph, inside, pools))
        for order in orders(graph)
        if (inside := [number for number in order if number in pools])
    ]
    if not started:
        return {}
    meter.spend(len(started) * len(pools))
    order, places, stuck = min(started, key=lambda each: _score(graph, each[1]))
    score, idle = _score(graph, places), 0
    while idle < _PATIENCE and not meter.over and len(order) > 1:
        changed = _change_order(graph, order, places, stuck, random)
        new_places, new_stuck = fill(graph, changed, pools)
        meter.spend(len(order))
        new_score = _score(graph, new_places)
        idle = 0 if new_score < score else idle + 1
        if new_score <= score:
            order, places, stuck, score = changed, new_places, new_stuck, new_score
    return places if stuck is None else None


def _score(graph: ConflictGraph, places: Places) -> tuple[int, int, int]:
    """Return a number that is less if more is placed, then cost, then sum of used bytes."""
    tops: dict[str, int] = {}
    cost = 0
    for number, (pool, offset) in places.items():
        buffer = graph.buffers[number]
        tops[pool] = max(tops.get(pool, 0), offset + buffer.size)
        cost += buffer.cost(pool)
    return -len(places), cost, sum(tops.values())


def _change_order(
    graph: ConflictGraph, order: Sequence[int], places: Places, stuck: int | None, random: Random
) -> list[int]:
    """Move the buffer that found no room, or one that ends highest, before a random one."""
    if stuck is None:
        ends = {n: offset + graph.buffers[n].size for n, (_, offset) in places.items()}
        top = max(ends.values())
        stuck = random.choice([number for number, end in ends.items() if end == top])
    if random.random() < 0.5:
        near = (number for number in graph.neighbours[stuck] if number in places)
        stuck = random.choice((stuck, *near))
    changed = [number for number in order if number != stuck]
    place = order.index(stuck)
    changed.insert(random.randrange(place) if place else random.randrange(len(order)), stuck)
    return changed
