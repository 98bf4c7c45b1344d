# SPDX-License-Identifier: Apache-2.0
"""State what memory planning has to solve for one module on one chip."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from atoll.ir.tir import Entry, IRModule, SafeOverlap
from atoll.memory.cache_lines import whole_lines
from atoll.memory.problem import Buffer, Interval, MemoryPlan, Overlap, PoolSpace, Problem
from atoll.resolve.soc import ResolvedSoc

NOTHING: Mapping[str, int] = MappingProxyType({})


def build_problem(
    module: IRModule, soc: ResolvedSoc, taken: Mapping[str, int] = NOTHING
) -> Problem:
    """Return the buffers of `module` and the pools of `soc`.

    Buffers that no step touches are left out. `taken` says how many bytes at the start of a pool
    are other models' constants. What shares no line of a data cache has whole lines.
    """
    entry = module.entry
    live = live_intervals(entry, mapped_inputs=soc.interface.map_inputs)
    touched = (name for step in entry.steps for name in (*step.reads, *step.writes))
    uses = Counter(map(entry.storage, touched))
    sized = [(item.buffer, item.size, item.align, item.pools) for item in entry.allocations]
    sized = list(whole_lines(entry, soc, sized))
    sized += [(item.name, item.size, item.align, item.pools) for item in entry.constants]
    buffers = tuple(
        Buffer(
            name=name,
            size=max(1, size),
            alignment=align,
            live=(live[name],),
            pools=pools,
            uses=max(1, uses[name]),
        )
        for name, size, align, pools in sized
        if name in live
    )
    overlaps = tuple(_overlaps(entry, live))
    return Problem(pools=pool_spaces(soc, taken), buffers=buffers, overlaps=overlaps)


def live_intervals(entry: Entry, *, mapped_inputs: bool = False) -> Mapping[str, Interval]:
    """Return the half-open interval of steps, counted from 0, in which each buffer is live.

    A buffer lives from the first step that touches it through the last, so the inputs and
    outputs of one operator overlap. The caller fills its inputs before step 0. Behind the last
    step is one more, at which the caller reads the outputs, so these outlive whatever runs.
    Constants and states live in all steps. Buffers that nothing touches are not listed.

    Args:
        entry: the steps.
        mapped_inputs: the inputs stay in their places; the caller may read them at the end too.
    """
    end = len(entry.steps)
    first: dict[str, int] = dict.fromkeys(entry.filled, 0)
    last: dict[str, int] = dict.fromkeys(entry.inputs, end if mapped_inputs else 0)
    last |= dict.fromkeys(entry.states, end)
    for number, step in enumerate(entry.steps):
        for buffer in map(entry.storage, (*step.reads, *step.writes)):
            first.setdefault(buffer, number)
            last[buffer] = max(number, last.get(buffer, 0))
    for buffer in entry.outputs:
        first.setdefault(buffer, 0)
        last[buffer] = end
    live = {buffer: (begin, last[buffer] + 1) for buffer, begin in first.items()}
    return MappingProxyType(live | {constant.name: (0, end + 1) for constant in entry.constants})


def with_parts(plan: MemoryPlan, entry: Entry) -> MemoryPlan:
    """Return the plan that also says where the parts of its buffers are."""
    parts = {
        part.name: replace(
            plan.placements[part.buffer],
            buffer=part.name,
            offset=plan.placements[part.buffer].offset + part.offset,
        )
        for part in entry.parts
        if part.buffer in plan.placements
    }
    return replace(plan, placements={**plan.placements, **parts})


def _overlaps(entry: Entry, live: Mapping[str, Interval]) -> Iterator[Overlap]:
    """Yield what may share bytes: where an operand's life ends as the result's begins.

    Of an operand of which a step reads several parts, each must allow it.
    """
    for number, step in enumerate(entry.steps):
        found: dict[tuple[str, str], list[SafeOverlap]] = {}
        for each in step.overlaps:
            pair = entry.storage(each.written), entry.storage(each.read)
            found.setdefault(pair, []).append(each)
        for (later, earlier), group in found.items():
            reads = {name for name in step.reads if entry.storage(name) == earlier}
            ends = live[earlier][1] == number + 1 and live[later][0] == number
            if ends and reads == {each.read for each in group}:
                distance = max(_distance(entry, each) for each in group)
                yield Overlap(later=later, earlier=earlier, distance=max(0, distance))


def _distance(entry: Entry, each: SafeOverlap) -> int:
    """Return the distance of two buffers that makes that of their parts."""
    return each.distance + entry.extent(each.written)[0] - entry.extent(each.read)[0]


def pool_spaces(soc: ResolvedSoc, taken: Mapping[str, int] = NOTHING) -> tuple[PoolSpace, ...]:
    """Return the chip's pools as planners see them, in canonical order, less what is `taken`."""
    return tuple(
        PoolSpace(
            name=pool.name,
            origin=pool.region.origin + taken.get(pool.name, 0),
            size=pool.room - taken.get(pool.name, 0),
            alignment=pool.alignment,
            heap=pool.heap,
            beside=pool.region.size - pool.room + taken.get(pool.name, 0),
        )
        for pool in soc.pools
    )
