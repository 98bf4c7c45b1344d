"""State what memory planning has to solve for one module on one chip."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from atoll.ir.tir import Entry, IRModule
from atoll.memory.liveness import Interval, live_intervals
from atoll.memory.problem import Buffer, Overlap, PoolSpace, Problem
from atoll.resolve.soc import ResolvedSoc

NOTHING: Mapping[str, int] = MappingProxyType({})


def build_problem(
    module: IRModule, soc: ResolvedSoc, taken: Mapping[str, int] = NOTHING
) -> Problem:
    """Return the buffers of `module` and the pools of `soc`.

    Buffers that no step touches are left out. `taken` says how many bytes at the start of a pool
    are other models' constants.
    """
    entry = module.entry
    live = live_intervals(entry, mapped_inputs=soc.interface.map_inputs)
    sized = [(item.buffer, item.size, item.align, item.pools) for item in entry.allocations]
    sized += [(item.name, item.size, item.align, item.pools) for item in entry.constants]
    buffers = tuple(
        Buffer(name=name, size=max(1, size), alignment=align, live=(live[name],), pools=pools)
        for name, size, align, pools in sized
        if name in live
    )
    overlaps = tuple(_overlaps(entry, live))
    return Problem(pools=pool_spaces(soc, taken), buffers=buffers, overlaps=overlaps)


def _overlaps(entry: Entry, live: Mapping[str, Interval]) -> Iterator[Overlap]:
    """Yield what may share bytes: where an operand's life ends as the result's begins."""
    for number, step in enumerate(entry.steps):
        for each in step.overlaps:
            if live[each.read][1] == number + 1 and live[each.written][0] == number:
                yield Overlap(later=each.written, earlier=each.read, distance=each.distance)


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
