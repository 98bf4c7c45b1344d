# SPDX-License-Identifier: Apache-2.0
"""A picture of a chip as an SVG file: what lies in its memories, and which device reaches it."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from atoll.diagnostics.units import format_size
from atoll.records import dataclass
from atoll.report.svg import document, number, text_of, write
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Access, Memory, Region, ResolvedSoc
from atoll.resolve.tables import clock

_LEFT, _TOP, _ROW, _GAP = 380, 78, 20, 8
_COLUMN, _MARGIN = 108, 16
_STYLE = (
    ".memory { fill: #e8eef5 } .region { fill: #f7f7f7 } .rw { fill: #4e79a7 } "
    ".ro { fill: #a9c4de } .access { fill: #fff } .read { fill: #222 } .note { fill: #666 } "
    ".head { font-weight: bold }"
)
_STYLES = {Access.WRITE: "access", Access.READ: "read"}


def chip_svg(soc: ResolvedSoc) -> str:
    """Return the text of an SVG file: a row for each span of a memory, a column for each device."""
    rows = sum(1 + len(_parts(soc, memory)) for memory in soc.memories)
    height = _TOP + rows * _ROW + len(soc.memories) * _GAP + _MARGIN
    width = _LEFT + len(soc.devices) * _COLUMN + _MARGIN
    root = document(f"{soc.name}: memories, and what each device may do", width, height, _STYLE)
    _heads(root, soc)
    top = _TOP
    for memory in soc.memories:
        group = SubElement(root, "g", id=f"memory-{memory.name}")
        _bar(group, _MARGIN, top, width - 2 * _MARGIN, "memory")
        write(group, _MARGIN + 6, top + 14, memory.name, style="head")
        write(group, _LEFT - 8, top + 14, _about(memory), anchor="end")
        for part in _parts(soc, memory):
            top += _ROW
            _row(group, soc, part, top, width)
        top += _ROW + _GAP
    return text_of(root)


@dataclass(frozen=True, slots=True)
class _Part:
    """A span of a memory that has a purpose."""

    region: Region
    what: str


def _parts(soc: ResolvedSoc, memory: Memory) -> tuple[_Part, ...]:
    """Return what lies in a memory, by address."""
    roles = {pool.name: f"{pool.name}: {pool.role}" for pool in soc.pools}
    parts = (
        _Part(region, roles.get(region.name, region.name))
        for region in soc.regions()
        if region.memory == memory.name
    )
    return tuple(sorted(parts, key=lambda part: part.region.origin))


def _about(memory: Memory) -> str:
    origin = f"{memory.origin:#010x}"
    return f"{memory.kind}, {format_size(memory.size)} at {origin}, {memory.width} B a cycle"


def _heads(root: Element, soc: ResolvedSoc) -> None:
    for column, device in enumerate(soc.devices):
        middle = _LEFT + (column + 0.5) * _COLUMN
        write(root, middle, _TOP - 32, device.name, style="head", anchor="middle")
        words = f"{device.kind}, {clock(device.clock)}"
        write(root, middle, _TOP - 18, words, style="note", anchor="middle")


def _row(group: Element, soc: ResolvedSoc, part: _Part, top: int, width: int) -> None:
    region = part.region
    _bar(group, _MARGIN, top, width - 2 * _MARGIN, "region")
    write(group, _MARGIN + 18, top + 14, part.what)
    span = f"{format_size(region.size)} at {region.origin:#010x}"
    write(group, _LEFT - 8, top + 14, span, style="note", anchor="end")
    for column, device, access in _accesses(soc, region):
        left = _LEFT + column * _COLUMN
        _bar(group, left + 2, top + 1, _COLUMN - 4, access.value, _ROW - 3)
        seen = device_address(soc, device, region.origin)
        words = access.value if seen == region.origin else f"{access.value} {seen:#010x}"
        middle = left + _COLUMN / 2
        write(group, middle, top + 14, words, style=_STYLES[access], anchor="middle")


def _accesses(soc: ResolvedSoc, region: Region) -> Iterator[tuple[int, str, Access]]:
    """Yield the column and the name of each device that reaches a region, and how."""
    for column, device in enumerate(soc.devices):
        access = next((how for part, how in soc.windows(device) if part == region), None)
        if access:
            yield column, device.name, access


def _bar(
    parent: Element, x: float, y: float, width: float, style: str, height: int = _ROW - 1
) -> None:
    box = {"x": number(x), "y": number(y), "width": number(width), "height": str(height)}
    SubElement(parent, "rect", {"class": style, **box})
