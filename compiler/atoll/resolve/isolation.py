# SPDX-License-Identifier: Apache-2.0
"""What the isolation unit of a memory is to let through: the reach of devices, by its masters."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from atoll.description.remedies import put, write_pair
from atoll.records import dataclass
from atoll.resolve.core_instances import SAU_GRANULE, local_of
from atoll.resolve.draft import Draft
from atoll.resolve.memory_views import steps_by
from atoll.resolve.places import Isolation
from atoll.resolve.register_steps import register_spans
from atoll.resolve.soc import Access, Cpu, Memory, Region, ResolvedSoc

NUMBERS = range(32)
"""Of masters: each is a bit of a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedArea:
    """Bytes of a memory that masters may touch alike.

    Attributes:
        begin, end: where the bus has the first byte, and the first past it; whole granules.
        reads, writes: a bit for each number of a master that may.
        names: of the regions that lie here, by address.
    """

    begin: int
    end: int
    reads: int
    writes: int
    names: tuple[str, ...]


def isolated_areas(soc: ResolvedSoc, memory: Memory) -> tuple[IsolatedArea, ...]:
    """Return the areas of a memory with such a unit, in order; nobody may touch what is between."""
    assert memory.isolation is not None
    areas: list[IsolatedArea] = []
    for region in _regions(soc, memory):
        area = _area(soc, memory, memory.isolation, region)
        last = areas[-1] if areas else None
        alike = last and (last.reads, last.writes) == (area.reads, area.writes)
        if last and alike and last.end == area.begin:
            areas[-1] = replace(last, end=area.end, names=(*last.names, *area.names))
        else:
            areas.append(area)
    return tuple(areas)


def non_secure_areas(soc: ResolvedSoc, core: Cpu) -> Iterator[tuple[range, tuple[str, ...]]]:
    """Yield what the image of a core touches, joined where it adjoins, with the names.

    That is what its firewall lets through, and the registers of its sequences of steps. An SAU
    does not judge what the core keeps to itself.

    Args:
        soc: the chip as the core sees it.
        core: likewise.
    """
    begin = end = 0
    names: list[str] = []
    for start, stop, name in sorted(_spans(soc, core)):
        first = start & -SAU_GRANULE
        if names and first > end:
            yield range(begin, end), tuple(dict.fromkeys(names))
            names = []
        begin = begin if names else first
        end = max(end, -(-stop // SAU_GRANULE) * SAU_GRANULE)
        names.append(name)
    if names:
        yield range(begin, end), tuple(dict.fromkeys(names))


def _spans(soc: ResolvedSoc, core: Cpu) -> Iterator[tuple[int, int, str]]:
    """Yield the first byte, the first past it and a name of each thing that a core touches."""
    for window, _ in soc.windows(core):
        name = window.name if isinstance(window, Region) else "registers"
        yield window.origin, window.origin + window.size, name
    local = local_of(core.spec)
    for span in register_spans(each for each in steps_by(soc, core) if each.address not in local):
        yield span.start, span.stop, "registers"


def _regions(soc: ResolvedSoc, memory: Memory) -> list[Region]:
    found = (each for each in soc.regions() if each.memory == memory.name)
    return sorted(found, key=lambda region: region.origin)


def _area(soc: ResolvedSoc, memory: Memory, unit: Isolation, region: Region) -> IsolatedArea:
    granted = _grants(soc, region)
    numbers = {name: 1 << unit.masters[name] for name in granted if name in unit.masters}
    reads = writes = 0
    for name, bit in numbers.items():
        reads |= bit
        writes |= bit if granted[name] is Access.WRITE else 0
    return IsolatedArea(
        begin=region.origin,
        end=min(memory.end, -(-region.end // unit.granule) * unit.granule),
        reads=reads,
        writes=writes,
        names=(region.name,),
    )


def _grants(soc: ResolvedSoc, region: Region) -> Mapping[str, Access]:
    """Return what each device may do in a region that it may touch at all."""
    return {
        device.name: access
        for device in soc.devices
        for window, access in soc.windows(device)
        if isinstance(window, Region) and window.name == region.name
    }


def check_isolation(draft: Draft, soc: ResolvedSoc) -> None:
    """Note each unit that cannot keep devices to what they reach."""
    for memory in soc.memories:
        if unit := memory.isolation:
            for device, why in _faults(soc, memory, unit):
                number = _free(unit)
                draft.faults.add(
                    "E260",
                    why,
                    at=draft.where.at("memories", memory.name, "isolation", "masters", device),
                    remedy=put(("memories", memory.name, "isolation", "masters", device), number),
                )
            needed = len(isolated_areas(soc, memory))
            if unit.areas and needed > unit.areas:
                key = ("memories", memory.name, "isolation", "areas")
                draft.faults.add(
                    "E260",
                    f"the isolation unit of '{memory.name}' tells {unit.areas} areas apart, and"
                    f" {needed} are needed",
                    at=draft.where.at(*key),
                    remedy=write_pair(key, needed)
                    + ", if it can, or let devices reach neighbouring pools alike",
                )


def _faults(soc: ResolvedSoc, memory: Memory, unit: Isolation) -> Iterator[tuple[str, str]]:
    """Yield devices that the unit does not know, or takes for another one, and why that matters."""
    told = set[str]()
    for region in _regions(soc, memory):
        granted = _grants(soc, region)
        for name in granted:
            if name not in unit.masters and name not in told:
                told.add(name)
                yield (
                    name,
                    f"the isolation unit of '{memory.name}' has no number for '{name}', which"
                    f" reaches '{region.name}' there",
                )
        first: dict[int, str] = {}
        for name, number in unit.masters.items():
            other = first.setdefault(number, name)
            mine, theirs = granted.get(name), granted.get(other)
            if mine is not theirs and name not in told:
                told.add(name)
                yield (
                    name,
                    f"'{other}' and '{name}' are both master {number} of the isolation unit of"
                    f" '{memory.name}', and reach '{region.name}' differently:"
                    f" {theirs or 'none'} and {mine or 'none'}",
                )


def _free(unit: Isolation) -> int:
    return next((each for each in NUMBERS if each not in unit.masters.values()), 0)
