"""Physical memory protection: the privileged architecture of RISC-V, volume II, section 3.7.

Every entry is locked, so that it binds machine mode too. The first entry that matches an address
decides; the last one matches every address and opens nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from atoll.resolve.protection.area import Area
from atoll.resolve.protection.entry import Entry

READ, WRITE, RUN, LOCKED = 0x01, 0x02, 0x04, 0x80
TOP_OF_RANGE, POWER_OF_TWO = 0x08, 0x18
LEAST_POWER = 8
"""Bytes of the smallest region that is a power of two; one of four bytes has another form."""

ADDRESS_BITS = {32: 32, 64: 54}
"""Bits of an address register that count, by those of an address."""

WORD_SHIFT = 2
"""An address register counts words."""


def entries(areas: Sequence[Area], bits: int) -> tuple[Entry, ...]:
    """Return entries that open `areas`, in order, and nothing else.

    Args:
        areas: by address.
        bits: of an address.
    """
    return tuple(_entries(areas, bits))


def _entries(areas: Sequence[Area], bits: int) -> Iterator[Entry]:
    bottom: int | None = 0
    """Where a range would begin that the next entry ends; None if that is not known."""
    for area in areas:
        rights = READ | (WRITE if area.writes else 0) | (RUN if area.runs else 0) | LOCKED
        size, begin, end = area.end - area.begin, area.begin, area.end
        if bottom != begin and size >= LEAST_POWER and not size & size - 1 and not begin % size:
            words = (rights | POWER_OF_TWO, (begin | size // 2 - 1) >> WORD_SHIFT)
            yield Entry(area=area, begin=begin, end=end, form="NAPOT", words=words)
            bottom = None
            continue
        if bottom != begin:
            words = (LOCKED, begin >> WORD_SHIFT)
            yield Entry(area=None, begin=begin, end=begin, form="bottom", words=words)
        words = (rights | TOP_OF_RANGE, end >> WORD_SHIFT)
        yield Entry(area=area, begin=begin, end=end, form="TOR", words=words)
        bottom = end
    everything = (LOCKED | POWER_OF_TWO, (1 << ADDRESS_BITS[bits]) - 1)
    yield Entry(area=None, begin=0, end=1 << bits, form="NAPOT", words=everything)


def rights(table: Sequence[Entry], bits: int) -> Mapping[str, int]:
    """Return what the configuration registers hold, by name, in the order in which they are set.

    Addresses are set before, since a locked entry takes none. What opens nothing comes last, so
    that the core can go on meanwhile.
    """
    held = bits // 8
    firsts = range(0, len(table), held)
    return {
        f"pmpcfg{first // 4}": sum(
            entry.words[0] << 8 * number for number, entry in enumerate(table[first : first + held])
        )
        for first in firsts
    }
