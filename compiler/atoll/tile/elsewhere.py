# SPDX-License-Identifier: Apache-2.0
"""Where a tensor can lie of which only some rows are in a pool that is too small for all of it."""

from collections.abc import Collection

from atoll.cost.pieces import row_copy_cycles
from atoll.ir.graph import Graph, Tensor
from atoll.reach.candidates import WORKSPACE_ROLES, allows, by_preference
from atoll.reach.movers import covers
from atoll.records import dataclass
from atoll.resolve.soc import Access, Dma, Pool, ResolvedSoc


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A pool that can hold a tensor whose rows are copied.

    Attributes:
        pool: its name.
        fixed: cycles of a copy beside its bytes.
        moving: cycles of all rows.
    """

    pool: str
    fixed: int
    moving: int


def elsewhere(
    tensor: Tensor,
    network: Graph,
    soc: ResolvedSoc,
    pools: Collection[str],
    asked: Collection[str] | None = None,
) -> Elsewhere | None:
    """Return the pool besides `pools` from and to which rows are copied fastest, if there is one.

    The host has to reach it, since that runs what reads all of such a tensor. It is one of `asked`,
    if somebody asks for some.
    """
    if tensor.pools or tensor.data is not None:
        return None
    possible = (
        _copy_cost(tensor, network, soc, pools, pool)
        for pool in by_preference(soc)
        if pool.name not in pools
        and (asked is None or pool.name in asked)
        and pool.role in WORKSPACE_ROLES
        and pool.room >= tensor.size
        and allows(pool.reach[soc.host], Access.WRITE)
    )
    return min(possible, key=lambda each: each.fixed + each.moving, default=None)


def _copy_cost(
    tensor: Tensor, network: Graph, soc: ResolvedSoc, pools: Collection[str], pool: Pool
) -> Elsewhere:
    """Return what copies between `pool` and `pools` take."""
    near = next(each.name for each in by_preference(soc) if each.name in pools)
    brings = (dma for dma in soc.dmas if _brings(dma, tensor.name, network, soc, pools, pool))
    mover = next(brings, soc.host_cpu)
    return Elsewhere(pool.name, *row_copy_cycles(tensor, (pool.name, near), mover, soc))


def _brings(
    dma: Dma, name: str, network: Graph, soc: ResolvedSoc, pools: Collection[str], pool: Pool
) -> bool:
    """Tell whether a DMA engine copies rows of a tensor, those that are read and are made."""
    read = any(name in op.reads for op in network.operators)
    written = name not in network.filled
    return (
        allows(pool.reach[dma.name], Access.WRITE if written else Access.READ)
        and (not read or covers(dma, soc, (pool.name,), pools))
        and (not written or covers(dma, soc, pools, (pool.name,)))
    )
