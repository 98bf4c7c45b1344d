# SPDX-License-Identifier: Apache-2.0
"""Which pairs of memories a DMA engine would have to copy between for a tensor to get through."""

from collections.abc import Iterator

from atoll.reach.candidates import WORKSPACE_ROLES, Needs, pools_for
from atoll.resolve.soc import Access, Dma, ResolvedSoc

Pair = tuple[str, str]


def missing_moves(needs: Needs, size: int, soc: ResolvedSoc) -> str | None:
    """Return the edit that lets one engine copy a tensor from its writer to each of its readers.

    None if no engine reaches both sides, or if its pairs are not what is missing.
    """
    for dma in soc.dmas:
        pairs = tuple(dict.fromkeys(_pairs(dma, needs, size, soc)))
        if pairs and None not in pairs:
            written = ", ".join(f"[{source}, {target}]" for source, target in filter(None, pairs))
            return f"add '{written}' to 'devices.{dma.name}.moves'"
    return None


def _pairs(dma: Dma, needs: Needs, size: int, soc: ResolvedSoc) -> Iterator[Pair | None]:
    """Yield a pair for each reader to which no copy leads, None where no pair would help."""
    written = {name: need for name, need in needs.items() if need is Access.WRITE}
    sources = _memories({dma.name: Access.READ} | written, size, soc)
    for reader in [name for name in needs if name not in written]:
        targets = _memories({reader: Access.READ, dma.name: Access.WRITE}, size, soc)
        pairs = [(source, target) for source in sources for target in targets]
        if not any(source == target or (source, target) in dma.moves for source, target in pairs):
            yield next(iter(pairs), None)


def _memories(needs: Needs, size: int, soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the memories of the workspace pools with these needs, best first."""
    return tuple(
        soc.pool(name).region.memory for name in pools_for(soc, needs, WORKSPACE_ROLES, size)
    )
