# SPDX-License-Identifier: Apache-2.0
"""Pools that accelerators reach and had better leave to DMA engines, which copy from them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from atoll.reach.candidates import WORKSPACE_ROLES, allows
from atoll.resolve.soc import Access, Npu, Pool, ResolvedSoc


def far_pools(touched: Iterable[tuple[str, str]], soc: ResolvedSoc) -> frozenset[str]:
    """Return those of the pools of activations that are slower than another one.

    Args:
        touched: devices, and pools of which they touch a buffer.
        soc: the chip.
    """
    return frozenset(
        pool
        for device, pool in {*touched}
        if isinstance(npu := soc.device(device), Npu) and any(_nearer(npu, soc.pool(pool), soc))
    )


def without_accelerators(soc: ResolvedSoc, pools: Collection[str]) -> ResolvedSoc:
    """Return the chip as if no accelerator reached some pools."""
    none = {npu.name: Access.NONE for npu in soc.npus}
    return replace(
        soc,
        pools=tuple(
            replace(pool, reach={**pool.reach, **none}) if pool.name in pools else pool
            for pool in soc.pools
        ),
    )


def _nearer(npu: Npu, far: Pool, soc: ResolvedSoc) -> Iterator[Pool]:
    """Yield the faster pools that an accelerator writes to and a DMA engine fills from `far`."""
    if far.role not in WORKSPACE_ROLES:
        return
    slow = soc.memory(far.region.memory)
    for pool in soc.pools:
        fast, ways = soc.memory(pool.region.memory), {far.region.memory, pool.region.memory}
        slower = slow.read_latency > fast.read_latency or slow.width < fast.width
        if (
            slower
            and slow.read_latency >= fast.read_latency
            and slow.width <= fast.width
            and pool.role in WORKSPACE_ROLES
            and allows(pool.reach[npu.name], Access.WRITE)
            and any({*way} == ways for dma in soc.dmas for way in dma.moves)
        ):
            yield pool
