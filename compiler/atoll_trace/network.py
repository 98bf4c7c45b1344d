# SPDX-License-Identifier: Apache-2.0
"""What a trace needs to know of a compiled network: who hands what to whom, and what is live."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from atoll.driver.compiled import Compiled
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallStart, Entry, Step
from atoll.memory.problem import Buffer, MemoryPlan
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """An operator reads bytes of a buffer that another has written before."""

    producer: str
    consumer: str
    buffer: str


def edges_of(entry: Entry) -> tuple[Edge, ...]:
    """Return who hands which buffer to whom, in the order of the readers."""
    written: dict[str, list[tuple[str, str]]] = defaultdict(list)
    edges: dict[Edge, None] = {}
    for step in entry.steps:
        for name in step.reads:
            buffer = entry.storage(name)
            for producer, part in written[buffer]:
                if producer != step.operator and entry.meet(name, part):
                    edges[Edge(producer, step.operator, buffer)] = None
        for name in step.writes:
            written[entry.storage(name)].append((step.operator, name))
    return tuple(edges)


def buffers_of(compiled: Compiled) -> Mapping[str, Sequence[Mapping[str, str | int]]]:
    """Return the buffers of each operator: where they are, and what it does with them."""
    entry, plan = compiled.module.entry, compiled.plan
    found: dict[str, dict[str, Mapping[str, str | int]]] = defaultdict(dict)
    for step in entry.steps:
        for name in dict.fromkeys((*step.reads, *step.writes)):
            if name in plan.placements:
                found[step.operator][name] = {
                    "buffer": name,
                    "pool": plan.placements[name].pool,
                    "address": plan.address(name),
                    "size_bytes": entry.sizes[name],
                    "access": "r" * (name in step.reads) + "w" * (name in step.writes),
                }
    return {operator: tuple(of.values()) for operator, of in found.items()}


def live_bytes(plan: MemoryPlan, steps: int) -> Mapping[str, Sequence[int]]:
    """Return how many bytes of each pool are live at each step, less what overlaps may save.

    The most of a pool is the plan's `PoolUse.peak`. Behind the last step is one at which the caller
    reads the outputs.
    """
    places, buffers = plan.placements, {each.name: each for each in plan.problem.buffers}
    changes = {pool.name: [0] * (steps + 2) for pool in plan.problem.pools}
    for name, buffer in buffers.items():
        for begin, end in buffer.live:
            changes[places[name].pool][begin] += buffer.size
            changes[places[name].pool][end] -= buffer.size
    live = {pool: list(accumulate(of))[:-1] for pool, of in changes.items()}
    saved: dict[tuple[str, int], int] = defaultdict(int)
    for each in plan.problem.overlaps:
        later, earlier = buffers[each.later], buffers[each.earlier]
        if places[later.name].pool == places[earlier.name].pool:
            for step in _steps(later) & _steps(earlier):
                saved[later.name, step] += max(0, min(later.size - each.distance, earlier.size))
    for (name, step), size in saved.items():
        live[places[name].pool][step] -= min(size, buffers[name].size)
    return live


def _steps(buffer: Buffer) -> set[int]:
    return {step for begin, end in buffer.live for step in range(begin, end)}


def step_cycles(
    steps: Sequence[Step], begins: Mapping[str, int], ends: Mapping[str, int]
) -> Iterator[int]:
    """Yield when each step begins, and when the last one has ended; none of what never ran.

    A wait begins when what the host did before it is done.
    """
    now = 0
    for step in steps:
        if step.operator not in begins:
            return
        if not isinstance(step.action, AcceleratorWait):
            now = max(now, begins[step.operator])
        yield now
        if not isinstance(step.action, AcceleratorStart | CallStart):
            now = max(now, ends[step.operator])
    yield now
