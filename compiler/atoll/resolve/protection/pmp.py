# SPDX-License-Identifier: Apache-2.0
"""Physical memory protection: the privileged architecture of RISC-V, volume II, section 3.7.

Every entry is locked, so that it binds machine mode too. The first entry that matches an address
decides; the last one matches every address and opens nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

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
    """Return the fewest entries known that open `areas`, in order, and nothing else.

    Areas alike with gaps between them, such as stacks with their guards, may be opened as one
    behind entries that close the gaps, of which the first that matches decides.

    Args:
        areas: by address.
        bits: of an address.
    """
    best: dict[int | None, tuple[Entry, ...]] = {0: ()}
    """Entries for the areas so far, by the address where a range would begin that the next entry
    ends; None if that is not known."""
    reached = [best]
    for last in range(len(areas)):
        found: dict[int | None, tuple[Entry, ...]] = {}
        for first in range(last, -1, -1):
            closed = _close_gaps(areas[first : last + 1])
            if closed is None:
                break
            for bottom, before in reached[first].items():
                after, more = _open_areas(areas[first : last + 1], closed, bottom)
                both = (*before, *more)
                if after not in found or len(both) < len(found[after]):
                    found[after] = both
        reached.append(found)
    everything = (LOCKED | POWER_OF_TWO, (1 << ADDRESS_BITS[bits]) - 1)
    rest = Entry(area=None, begin=0, end=1 << bits, form="NAPOT", words=everything)
    return (*min(reached[-1].values(), key=len), rest)


def _close_gaps(areas: Sequence[Area]) -> tuple[Entry, ...] | None:
    """Return an entry for each gap between areas; None if they differ or gaps take more."""
    if any((each.access, each.kept) != (areas[0].access, areas[0].kept) for each in areas):
        return None
    gaps = [(low.end, high.begin) for low, high in pairwise(areas) if low.end < high.begin]
    if not all(_is_power(begin, end) for begin, end in gaps):
        return None
    return tuple(_power(None, LOCKED, begin, end) for begin, end in gaps)


def _open_areas(
    areas: Sequence[Area], closed: Sequence[Entry], bottom: int | None
) -> tuple[int | None, tuple[Entry, ...]]:
    """Return entries that open all between the first and the last area but what is `closed`.

    Returns:
        Where a range would begin that the next entry ends, None if that is not known, and they.
    """
    begin, end = areas[0].begin, areas[-1].end
    whole = replace(areas[0], end=end, names=tuple(n for each in areas for n in each.names))
    rights = READ | (WRITE if whole.writes else 0) | (RUN if whole.runs else 0) | LOCKED
    if closed:
        bottom = None
    if bottom != begin and _is_power(begin, end):
        return None, (*closed, _power(whole, rights, begin, end))
    words = (LOCKED, begin >> WORD_SHIFT)
    start = Entry(area=None, begin=begin, end=begin, form="bottom", words=words)
    words = (rights | TOP_OF_RANGE, end >> WORD_SHIFT)
    opens = Entry(area=whole, begin=begin, end=end, form="TOR", words=words)
    return end, (*closed, *(() if bottom == begin else (start,)), opens)


def _is_power(begin: int, end: int) -> bool:
    size = end - begin
    return size >= LEAST_POWER and not size & size - 1 and not begin % size


def _power(area: Area | None, rights: int, begin: int, end: int) -> Entry:
    words = (rights | POWER_OF_TWO, (begin | (end - begin) // 2 - 1) >> WORD_SHIFT)
    return Entry(area=area, begin=begin, end=end, form="NAPOT", words=words)


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
