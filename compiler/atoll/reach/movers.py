# SPDX-License-Identifier: Apache-2.0
"""Which DMA engine moves between pools, and who copies a tensor into one."""

from collections.abc import Iterable, Sequence
from itertools import product

from atoll.ir.graph import Tensor
from atoll.reach.candidates import CONSTANT_ROLES, allows, homes_of, pools_for
from atoll.resolve.soc import Access, Dma, ResolvedSoc


def covers(dma: Dma, soc: ResolvedSoc, sources: Iterable[str], destinations: Iterable[str]) -> bool:
    """Say whether `dma` moves from each of the pools `sources` to each of `destinations`.

    It must also reach a pool for its commands.
    """
    pairs = [
        (soc.pool(source).region.memory, soc.pool(destination).region.memory)
        for source, destination in product(sources, destinations)
    ]
    commands = pools_for(soc, {dma.name: Access.READ}, CONSTANT_ROLES, 1)
    return bool(pairs and commands) and all(pair in dma.moves for pair in pairs)


def mover_of(source: Tensor, writer: str | None, pools: Sequence[str], soc: ResolvedSoc) -> str:
    """Return what copies `source` into one of `pools`: the host, or an engine if only that can."""
    if any(allows(soc.pool(pool).reach[soc.host], Access.WRITE) for pool in pools):
        return soc.host
    written = {} if writer is None else {writer: Access.WRITE}
    for dma in soc.dmas:
        homes = homes_of(soc, {dma.name: Access.READ} | written, source)
        reached = [p for p in pools if allows(soc.pool(p).reach[dma.name], Access.WRITE)]
        if reached and covers(dma, soc, homes, reached):
            return dma.name
    return soc.host
