"""What a pool needs at least for the blocks that are in it."""

from collections.abc import Mapping

from atoll.memory.packing import Packing


def heaviest(packing: Packing) -> int:
    """Return the most bytes of members that all conflict, less what overlaps may save."""
    return max(
        (sum(packing.weights(clique, rounded=False).values()) for clique in packing.cliques),
        default=0,
    )


def least_offsets(packing: Packing) -> Mapping[int, int]:
    """Return the lowest offset of each free member if it were alone."""
    return {member: packing.lifted(member, 0, packing.forbidden(member)) for member in packing.free}


def packing_bound(packing: Packing) -> int:
    """Return bytes that every plan of `packing` uses."""
    blocks = packing.whole.blocks
    low = {**least_offsets(packing), **packing.pinned}
    alone = max((low[member] + blocks[member].size for member in packing.members), default=0)
    stacked = max((_stacked(packing, clique, low) for clique in packing.cliques), default=0)
    return max(alone, stacked, heaviest(packing))


def _stacked(packing: Packing, clique: tuple[int, ...], low: Mapping[int, int]) -> int:
    """Stack a clique in the order of its lowest offsets; the topmost member is not rounded up."""
    blocks = packing.whole.blocks
    weights = packing.weights(clique, rounded=True)
    slack = max(packing.rounded(blocks[member].size) - blocks[member].size for member in clique)
    height = packing.first
    for member in sorted(clique, key=lambda each: low[each]):
        ground = height if member in packing.pinned else max(height, low[member])
        height = ground + weights[member]
    return height - slack
