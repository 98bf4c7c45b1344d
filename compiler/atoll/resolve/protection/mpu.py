# SPDX-License-Identifier: Apache-2.0
"""Memory protection units of Arm's cores: DDI 0403 section B3.5 (v7), DDI 0553 section B11 (v8).

The background map is off, so what no region holds is closed to the core. The private peripheral
bus is open always.
"""

from collections.abc import Iterable, Iterator, Sequence

from atoll.resolve.protection.area import Area
from atoll.resolve.protection.entry import Entry

SUBREGIONS = 8
LEAST_DIVIDED = 256
"""Bytes of the smallest region that has subregions."""

NORMAL = {"": 0b001_0_0_0 << 16, "through": 0b000_0_1_0 << 16, "back": 0b001_0_1_1 << 16}
"""Attributes of a v7 region of normal memory, by how a cache keeps it."""

DEVICE = 0b000_1_0_1 << 16
"""Attributes of a v7 region of registers: shared device memory."""

RUN_NEVER = 1 << 28
READ_WRITE, READ_ONLY = 0x0300_0000, 0x0600_0000
NEVER_V8, READ_ONLY_V8 = 1, 0b11 << 1
READ_WRITE_V8 = 0b01 << 1
ENABLED = 1
LEAST_V8 = 32
REGISTERS, KEPT = 1 << 1, 2 << 1
"""AttrIndx of v8 regions of registers and of memory that a cache keeps; 0 is other memory."""

_PLAIN_V8 = 0x0444
_KEPT_V8 = {"through": 0xAA_0000, "back": 0xFF_0000}


def attributes_v8(areas: Iterable[Area]) -> int:
    """Return MPU_MAIR0: normal memory that no cache keeps, devices, and memory that one keeps."""
    kept = {area.kept for area in areas} - {""}
    assert len(kept) <= 1, "a core has one data cache"
    return _PLAIN_V8 | sum(_KEPT_V8[how] for how in kept)


def entries_v7(areas: Sequence[Area], granule: int) -> tuple[Entry, ...]:
    """Return regions of powers of two, parts of which are switched off, that open `areas`."""
    return tuple(entry for area in areas for entry in _powers(area, granule))


def entries_v8(areas: Sequence[Area]) -> tuple[Entry, ...]:
    """Return regions from base to limit that open `areas`."""
    return tuple(_range(area) for area in areas)


def _range(area: Area) -> Entry:
    rights = (READ_WRITE_V8 if area.writes else READ_ONLY_V8) | (0 if area.runs else NEVER_V8)
    kind = REGISTERS if area.registers else KEPT if area.kept else 0
    limit = area.end - LEAST_V8 | kind | ENABLED
    words = (area.begin | rights, limit)
    return Entry(area=area, begin=area.begin, end=area.end, form="base, limit", words=words)


def _powers(area: Area, granule: int) -> Iterator[Entry]:
    """Yield regions from the lowest address on, each as long as can be."""
    begin = area.begin
    while begin < area.end:
        end, base, size = max(_candidates(begin, area.end, granule))
        yield Entry(
            area=area,
            begin=begin,
            end=end,
            form=f"{size:#x} at {base:#x}",
            words=(base, _attributes(area, base, size, range(begin, end))),
        )
        begin = end


def _candidates(begin: int, end: int, granule: int) -> Iterator[tuple[int, int, int]]:
    """Yield end, base and size of each region that opens a part of `begin` to `end` alone."""
    size = granule
    while size <= 1 << 32:
        base = begin & -size
        step = size // SUBREGIONS if size >= LEAST_DIVIDED else size
        if not begin % step and (last := min(end, base + size) & -step) > begin:
            yield last, base, size
        size *= 2


def _attributes(area: Area, base: int, size: int, opened: range) -> int:
    off = 0
    if size >= LEAST_DIVIDED:
        step = size // SUBREGIONS
        off = sum(1 << n for n in range(SUBREGIONS) if base + n * step not in opened)
    kind = DEVICE if area.registers else NORMAL[area.kept]
    rights = (READ_WRITE if area.writes else READ_ONLY) | (0 if area.runs else RUN_NEVER)
    return rights | kind | off << 8 | (size.bit_length() - 2) << 1 | ENABLED
