"""State what memory planning has to solve for one module on one chip."""

from atoll.ir.tir import IRModule
from atoll.memory.liveness import live_intervals
from atoll.memory.problem import Buffer, PoolSpace, Problem
from atoll.resolve.soc import ResolvedSoc


def build_problem(module: IRModule, soc: ResolvedSoc) -> Problem:
    """Return the buffers of `module` and the pools of `soc`.

    Buffers that no step touches are left out.
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
    return Problem(pools=pool_spaces(soc), buffers=buffers)


def pool_spaces(soc: ResolvedSoc) -> tuple[PoolSpace, ...]:
    """Return the chip's pools as planners see them, in canonical order."""
    return tuple(
        PoolSpace(
            name=pool.name,
            origin=pool.region.origin,
            size=pool.region.size,
            alignment=pool.alignment,
        )
        for pool in soc.pools
    )
