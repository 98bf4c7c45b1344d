"""How much of each region an image takes."""

from collections.abc import Iterator

from atoll.image.elf import ElfImage
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import RegionKind, ResolvedSoc
from atoll.resolve.tables import Quantity, Row, Table, address, size

_BAR = 20
_FULL, _EMPTY = "#", "."


def usage(soc: ResolvedSoc, name: str, image: ElfImage, stack: int | None) -> Table:
    """Return the regions that core `name` sees, and the bytes of the image in each.

    Args:
        soc: the chip.
        name: of the core.
        image: what was linked.
        stack: bytes of the core's main stack that it may use, if that is known.
    """
    return Table(
        key="usage",
        title=f"What the image takes, as '{name}' sees it",
        columns=("memory", "region", "from", "size", "used", "free", ""),
        keys=(
            *("memory", "region", "first_address", "size_bytes", "used_bytes", "free_bytes"),
            "used_share",
        ),
        rows=tuple(_rows(as_seen_by(soc, name), name, image, stack)),
    )


def _rows(soc: ResolvedSoc, name: str, image: ElfImage, stack: int | None) -> Iterator[Row]:
    pools = {pool.region for pool in soc.pools}
    own = (each for each in soc.regions() if each in pools or each.name.split(".")[0] == name)
    for region in sorted(own, key=lambda each: each.origin):
        spans = [(each.begin, each.end) for each in image.sections]
        copied = (each for each in image.sections if each.load != each.begin)
        spans += [(each.load, each.load + len(each.data)) for each in copied]
        used = sum(max(0, min(end, region.end) - max(begin, region.origin)) for begin, end in spans)
        if region.name == f"{name}.{RegionKind.STACK}":
            used = max(used, stack or 0)
        share = min(1.0, used / region.size)
        full = -(-int(share * 1000) * _BAR // 1000)
        yield (
            region.memory,
            region.name,
            address(region.origin),
            size(region.size),
            Quantity(used, f"{used:,} B"),
            Quantity(max(0, region.size - used), f"{max(0, region.size - used):,} B"),
            Quantity(round(share, 4), f"{_FULL * full}{_EMPTY * (_BAR - full)} {share:4.0%}"),
        )
