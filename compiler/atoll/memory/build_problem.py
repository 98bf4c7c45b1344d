"""State what memory planning has to solve for one module on one chip."""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.ir.tir import IRModule
from atoll.memory.liveness import live_intervals
from atoll.memory.problem import Buffer, PoolSpace, Problem
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
    live = live_intervals(entry)
    sized = [(item.buffer, item.size, item.align, item.pools) for item in entry.allocations]
    sized += [(item.name, item.size, item.align, item.pools) for item in entry.constants]
    buffers = tuple(
        Buffer(name=name, size=max(1, size), alignment=align, live=(live[name],), pools=pools)
        for name, size, align, pools in sized
        if name in live
    )
    return Problem(pools=pool_spaces(soc, taken), buffers=buffers)


def pool_spaces(soc: ResolvedSoc, taken: Mapping[str, int] = NOTHING) -> tuple[PoolSpace, ...]:
    """Return the chip's pools as planners see them, in canonical order, less what is `taken`."""
    return tuple(
        PoolSpace(
            name=pool.name,
            origin=pool.region.origin + taken.get(pool.name, 0),
            size=pool.room - taken.get(pool.name, 0),
            alignment=pool.alignment,
            heap=pool.heap,
        )
        for pool in soc.pools
    )
