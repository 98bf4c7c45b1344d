# SPDX-License-Identifier: Apache-2.0
"""How much of each region an image takes."""

from collections.abc import Iterator, Mapping

from atoll.api.images import NOT_BOUNDED
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import RegionKind, ResolvedSoc
from atoll.resolve.tables import Quantity, Row, Table, address, size
from atoll_image.elf import ElfImage

_BAR = 20
_FULL, _EMPTY = "#", "."
_NOT_KNOWN = "not known"


def usage(soc: ResolvedSoc, name: str, image: ElfImage, stacks: Mapping[str, int | None]) -> Table:
    """Return the regions that core `name` sees, and the bytes of the image in each.

    Args:
        soc: the chip.
        name: of the core.
        image: what was linked.
        stacks: bytes that it may use of the core's stacks, by name; None where nothing bounds them.
    """
    return Table(
        key="usage",
        title=f"What the image takes, as '{name}' sees it",
        columns=("memory", "region", "from", "size", "used", "free", ""),
        keys=(
            *("memory", "region", "first_address", "size_bytes", "used_bytes", "free_bytes"),
            "used_share",
        ),
        rows=tuple(_rows(as_seen_by(soc, name), name, image, stacks)),
    )


def _rows(
    soc: ResolvedSoc, name: str, image: ElfImage, stacks: Mapping[str, int | None]
) -> Iterator[Row]:
    pools = {pool.region for pool in soc.pools}
    own = (each for each in soc.regions() if each in pools or each.name.split(".")[0] == name)
    for region in sorted(own, key=lambda each: each.origin):
        spans = [(each.begin, each.end) for each in image.sections]
        copied = (each for each in image.sections if each.load != each.begin)
        spans += [(each.load, each.load + len(each.data)) for each in copied]
        used = sum(max(0, min(end, region.end) - max(begin, region.origin)) for begin, end in spans)
        head = (region.memory, region.name, address(region.origin), size(region.size))
        if region.kind is RegionKind.STACK:
            stack = stacks.get(region.name)
            if stack is None:
                word = NOT_BOUNDED if region.name in stacks else _NOT_KNOWN
                yield (*head, Quantity(None, word), Quantity(None, ""), Quantity(None, ""))
                continue
            used = max(used, stack)
        share = min(1.0, used / region.size)
        full = -(-int(share * 1000) * _BAR // 1000)
        yield (
            *head,
            Quantity(used, f"{used:,} B"),
            Quantity(max(0, region.size - used), f"{max(0, region.size - used):,} B"),
            Quantity(round(share, 4), f"{_FULL * full}{_EMPTY * (_BAR - full)} {share:4.0%}"),
        )
