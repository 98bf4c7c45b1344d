# SPDX-License-Identifier: Apache-2.0
"""Whether the tables of protection units have room, and what to merge where they have not."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.description.tree import Key
from atoll.records import dataclass
from atoll.resolve.draft import Draft
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.protection.area import Area, areas_of
from atoll.resolve.protection.table import entries_of, table_of
from atoll.resolve.soc import Access, Cpu, ResolvedSoc


@dataclass(frozen=True, slots=True)
class Merge:
    """Two neighbours that can become one, which takes fewer entries.

    Attributes:
        low, high: the neighbours.
        reach: keys of the accesses that have to become ``rw`` for that.
    """

    low: Area
    high: Area
    reach: tuple[Key, ...]

    def __str__(self) -> str:
        opened = dict.fromkeys(f"'{key[1]}'" for key in self.reach)
        areas = f"{_area_name(self.low)} and {_area_name(self.high)}"
        return f"{areas} merge if {' and '.join(opened)} is rw"


def check_protection(draft: Draft, soc: ResolvedSoc) -> None:
    """Note each core whose protection unit has too few regions for what the core may touch."""
    for cpu in soc.cpus:
        unit, needed = cpu.spec.protection, len(table_of(soc, cpu))
        if unit is None or needed <= unit.regions:
            continue
        key = ("devices", cpu.name, "protection")
        merges, blocks = tuple(_merges(soc, cpu)), tuple(_blocks(soc, cpu))
        said = [str(merge) for merge in merges]
        if len(blocks) > 1:
            names = [f"'{name}'" for name, _ in blocks]
            said.append(f"{', '.join(names[:-1])} and {names[-1]} merge where they adjoin")
        draft.faults.add(
            "E105",
            f"the protection unit of '{cpu.name}' has {unit.regions} regions, and {needed} are"
            f" needed{'; ' if said else ''}{', '.join(said)}",
            at=draft.where.at(*key),
            remedy="write 'protection: false', or let the core reach fewer pools",
            keys=(
                key,
                *(pool for merge in merges for pool in merge.reach),
                *(where for _, where in blocks),
            ),
        )


def _blocks(soc: ResolvedSoc, cpu: Cpu) -> Iterator[tuple[str, Key]]:
    """Yield (name, key of the address) of the register blocks of devices that lie alone."""
    unit = cpu.spec.protection
    assert unit is not None
    for area in areas_of(soc, cpu, unit.granule):
        device, _, what = area.names[0].rpartition(".")
        if area.registers and len(area.names) == 1 and what in ("registers", "mailbox"):
            yield area.names[0], ("devices", device, what)


def _merges(soc: ResolvedSoc, cpu: Cpu) -> Iterator[Merge]:
    """Yield the merges that more access alone brings about, and that save an entry."""
    soc = as_seen_by(soc, cpu.name)
    unit, bits = cpu.spec.protection, cpu.instructions.bits
    assert unit is not None
    areas = areas_of(soc, cpu, unit.granule)
    needed = len(entries_of(unit, areas, bits))
    for number in range(1, len(areas)):
        low, high = areas[number - 1], areas[number]
        if (reach := _opening_keys(soc, cpu, low, high)) is None:
            continue
        merged = replace(low, end=high.end, writes=True)
        fewer = (*areas[: number - 1], merged, *areas[number + 1 :])
        if len(entries_of(unit, fewer, bits)) < needed:
            yield Merge(low, high, reach)


def _opening_keys(soc: ResolvedSoc, cpu: Cpu, low: Area, high: Area) -> tuple[Key, ...] | None:
    """Return the keys of accesses that make one of two neighbours; None if no access does."""
    if low.runs or high.runs or low.registers or high.registers:
        return None
    pools = {pool.region.origin: pool for pool in soc.pools}
    names = [name for area in (low, high) if not area.writes for name in area.names]
    at = low.end
    while at < high.begin and at in pools and pools[at].reach[cpu.name] is Access.NONE:
        names.append(pools[at].name)
        at = pools[at].region.end
    if at != high.begin or not {pool.name for pool in soc.pools}.issuperset(names):
        return None
    return tuple(("pools", name, "reach", cpu.name) for name in names)


def _area_name(area: Area) -> str:
    return " and ".join(f"'{name}'" for name in area.names) + f" ({area.access})"
