"""A pool to pack as a strip: every block lives without a break and may have any offset."""

from collections.abc import Sequence
from dataclasses import dataclass

from atoll.memory.packing import Offsets, Packing
from atoll.memory.skyline_layout import FAR, LARGEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Blocks of a pool as rectangles, one for each or for several that are joined.

    Attributes:
        base: offset of the ground.
        groups: members of each rectangle, and their bytes from its ground.
        begin, end: the rectangle's first moment and the one after its last; a moment is a time at
            which some member begins or ends.
        size: bytes of the rectangle.
        moments: how many there are.
    """

    base: int
    groups: Sequence[tuple[tuple[int, int], ...]]
    begin: Sequence[int]
    end: Sequence[int]
    size: Sequence[int]
    moments: int

    def offsets(self, grounds: Sequence[int]) -> Offsets:
        """Return the offset of each member where the rectangles are at `grounds`."""
        return {
            member: self.base + ground + rise
            for group, ground in zip(self.groups, grounds, strict=True)
            for member, rise in group
        }


def strip_of(packing: Packing) -> Strip | None:
    """Return `packing` as a strip, or None where there is more to it than lifetimes and sizes."""
    if not _is_strip(packing):
        return None
    lives = {member: _life(packing, member) for member in packing.members}
    known = {member: life for member, life in lives.items() if life is not None}
    moments = {
        moment: n for n, moment in enumerate(sorted({m for life in known.values() for m in life}))
    }
    blocks = packing.whole.blocks
    sizes = {member: packing.rounded(blocks[member].size) for member in known}
    large = len(known) > LARGEST or sum(sizes.values()) * len(moments) >= FAR
    if large or len(known) < len(lives):
        return None
    ordered = sorted(known, key=lambda member: (known[member][0], -known[member][1]))
    return Strip(
        base=packing.first,
        groups=tuple(((member, 0),) for member in ordered),
        begin=tuple(moments[known[member][0]] for member in ordered),
        end=tuple(moments[known[member][1]] for member in ordered),
        size=tuple(sizes[member] for member in ordered),
        moments=len(moments),
    )


def _is_strip(packing: Packing) -> bool:
    """Tell whether every offset that is a multiple of the grain is as good as any other."""
    problem, pool = packing.whole.problem, packing.pool
    related = problem.conflicts is not None or problem.exclusive or packing.whole.nearer
    fixed = pool.reserved or pool.bank or packing.pinned
    grains = {packing.alignment(member) for member in packing.free}
    return not related and not fixed and len(grains) == 1


def _life(packing: Packing, member: int) -> tuple[int, int] | None:
    """Return when a member lives, or None if there is a break."""
    intervals = packing.whole.blocks[member].live
    begin, end = intervals[0]
    for first, beyond in intervals[1:]:
        if first > end:
            return None
        end = max(end, beyond)
    return begin, end
