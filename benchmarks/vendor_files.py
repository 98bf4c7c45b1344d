# SPDX-License-Identifier: Apache-2.0
"""Hold descriptions against what vendors' own files say, and print every difference.

Run as ``python -m benchmarks.vendor_files FOLDER [CHIP...]``. `vendor_files.yaml` beside
this script lists the files of each chip, with repository and commit: FOLDER has a checkout of each
at ``OWNER/NAME``. A file is read with `atoll import`'s own reader of its format, or with one of
`benchmarks.vendor_readers`; every value of a file comes from that file. The status is 1 if a
difference has no explanation in the list, or one of other bytes, or an explanation no difference.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from atoll.cli.output import as_command
from atoll.records import dataclass
from atoll.resolve import load_soc
from atoll.resolve.entities import Cpu, Device
from atoll.resolve.soc import ResolvedSoc
from benchmarks.vendor_readers import Said, read

LIST = Path(__file__).with_suffix(".yaml")
TOP = LIST.parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Bytes of a memory where devices see them.

    Attributes:
        name: of the memory, the alias or the view.
        start: address of the first byte.
        size: bytes.
        writable: whether cores store to them; None if nobody says.
        memory: whose bytes they are.
        byte: the first of them.
        viewer: the core that alone sees them here; empty for all.
    """

    name: str
    start: int
    size: int
    writable: bool | None
    memory: str
    byte: int = 0
    viewer: str = ""

    @property
    def end(self) -> int:
        """First address past it."""
        return self.start + self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreKind:
    """What a core is: None and empty are not said; `isas` are those that it may be."""

    core: str | None = None
    isas: tuple[str, ...] = ()
    clock: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A chip, as a description or as a file has it. Names of cores and devices are ours.

    Attributes:
        devices: first address of the registers of each that is no core; None if nobody says.
        steps: registers that the host writes so that other cores begin.
        registers: names of registers by address; None if the file has none.
    """

    places: tuple[Place, ...] = ()
    cores: Mapping[str, CoreKind] = field(default_factory=dict)
    devices: Mapping[str, int | None] = field(default_factory=dict)
    steps: tuple[int, ...] = ()
    registers: Mapping[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Where both sides differ.

    Attributes:
        about: what it is about, by which an explanation names it.
        text: how they differ.
        missing: bytes that one side alone has.
    """

    about: str
    text: str
    missing: int = 0


def side_of_description(soc: ResolvedSoc) -> Side:
    """Return what a description says."""
    memories = {each.name: each for each in soc.memories}
    places = [
        place
        for each in soc.memories
        for place in (
            _place(each.name, each.origin, each.size, each.kind, each.name),
            *(
                _place(f"{each.name} of {core}", origin, each.size, each.kind, each.name, 0, core)
                for core, origin in each.views.items()
            ),
        )
    ]
    for each in soc.aliases:
        memory = memories[each.memory]
        byte = each.byte - memory.origin
        places.append(_place(each.name, each.origin, each.size, memory.kind, each.memory, byte))
    cores = [each for each in soc.devices if isinstance(each, Cpu)]
    return Side(
        places=tuple(places),
        cores={
            each.name: CoreKind(
                core=each.spec.name, isas=(each.instructions.name,), clock=each.clock
            )
            for each in cores
        },
        devices={each.name: _registers(each) for each in soc.devices if each not in cores},
        steps=tuple(step.address for each in cores for step in each.release),
    )


def _place(
    name: str, start: int, size: int, kind: str, memory: str, byte: int = 0, viewer: str = ""
) -> Place:
    return Place(
        name=name,
        start=start,
        size=size,
        writable=kind == "ram",
        memory=memory,
        byte=byte,
        viewer=viewer,
    )


def _registers(device: Device) -> int | None:
    registers = getattr(device, "registers", None)
    return None if registers is None else registers.origin


def side_of_file(said: Said, entry: Mapping[str, Any]) -> Side:
    """Return what a file says; its `entry` in the list has our name of its cores and devices."""
    core_names = {theirs: ours for ours, theirs in entry.get("cores", {}).items()}
    facts = said.facts
    places = []
    often = Counter(each.name for each in facts.memories)
    for each in facts.memories:
        own_name = each.name if often[each.name] == 1 else f"{each.name}@{each.origin:#x}"
        memory = each.alias or own_name
        viewed = [(origin, core_names.get(core, core)) for core, origin in each.views]
        own = [] if any(origin == each.origin for origin, _ in viewed) else [(each.origin, "")]
        for start, viewer in (*own, *((other, "") for other in each.others), *viewed):
            places.append(
                Place(
                    name=own_name,
                    start=start,
                    size=each.size,
                    writable=each.writable,
                    memory=memory,
                    viewer=viewer,
                )
            )
    return Side(
        places=tuple(places),
        cores={
            core_names.get(each.name, each.name): CoreKind(
                core=each.core, isas=each.isas, clock=each.clock
            )
            for each in facts.cores
        },
        devices=_named_devices(said, entry),
        registers=said.registers,
    )


def _named_devices(said: Said, entry: Mapping[str, Any]) -> Mapping[str, int | None]:
    """Return DMA controllers by their name here, and whatever else the entry names."""
    names = {theirs: ours for ours, theirs in entry.get("devices", {}).items()}
    masters = {each.name for each in said.facts.masters}
    found: dict[str, int | None] = {}
    for name, start in said.blocks:
        exact = f"{name}@{start:#x}"
        if ours := names.get(exact) or names.get(name):
            found[ours] = start
        elif name in masters:
            found[exact] = start
    return found


def compare(ours: Side, theirs: Side) -> Iterator[Difference]:
    """Yield each difference between a description and a file."""
    if theirs.places:
        yield from _compare_places(ours.places, theirs.places)
    if theirs.cores:
        yield from _compare_cores(ours.cores, theirs.cores)
    if theirs.devices:
        yield from _compare_devices(ours.devices, theirs.devices)
    for step in ours.steps if theirs.registers is not None else ():
        if step not in (theirs.registers or {}):
            yield Difference(f"step {step:#x}", "the file has no register there")


def _compare_places(ours: Sequence[Place], theirs: Sequence[Place]) -> Iterator[Difference]:
    for place in ours:
        there = _candidates(place, theirs)
        if missing := subtract(place, there):
            yield _missing(f"memory {place.name}", "not in the file", place, missing)
        kinds = {each.writable for each in there if _overlap(place, each)} - {None}
        if kinds and place.writable not in kinds:
            word, other = ("RAM", "ROM") if place.writable else ("ROM", "RAM")
            yield Difference(f"kind of {place.name}", f"{word} here, {other} in the file")
    for place in theirs:
        if missing := subtract(place, _candidates(place, ours)):
            about = f"their {place.name}{f' of {place.viewer}' if place.viewer else ''}"
            yield _missing(about, "not described", place, missing)
    yield from _compare_aliases(ours, theirs, "two memories in the file")
    yield from _compare_aliases(theirs, ours, "two memories in the description")


def _candidates(place: Place, others: Sequence[Place]) -> Sequence[Place]:
    """Return which of the other side's places may have the bytes of `place`.

    Where one core alone sees them, and the other side has places of that core there too, others
    do not count: what all see at these addresses the core does not.
    """
    own = [each for each in others if each.viewer == place.viewer and _overlap(place, each)]
    if place.viewer and own:
        return own
    return [each for each in others if not place.viewer or each.viewer in ("", place.viewer)]


def _overlap(one: Place, other: Place) -> bool:
    return one.start < other.end and other.start < one.end


def subtract(place: Place, others: Iterable[Place]) -> tuple[range, ...]:
    """Return the addresses of `place` that none of `others` has, in ascending order."""
    found, first = [], place.start
    for each in sorted(others, key=lambda it: it.start):
        if first < min(each.start, place.end):
            found.append(range(first, min(each.start, place.end)))
        first = max(first, each.end)
    if first < place.end:
        found.append(range(first, place.end))
    return tuple(found)


def _missing(about: str, word: str, place: Place, missing: Sequence[range]) -> Difference:
    spans = ", ".join(f"{each.start:#010x} to {each.stop - 1:#010x}" for each in missing)
    count = sum(map(len, missing))
    return Difference(about, f"{word}: {spans}, {count:,} of its {place.size:,} bytes", count)


def _compare_aliases(
    ones: Sequence[Place], others: Sequence[Place], words: str
) -> Iterator[Difference]:
    """Yield pairs of addresses at which one side has the same byte, and the other two bytes."""
    for one, again in combinations(ones, 2):
        if one.memory == again.memory and one.byte == again.byte and one.start != again.start:
            first, second = (_byte_at(each, others) for each in (one, again))
            if first and second and not first & second:
                yield Difference(
                    f"alias {again.name}", f"{one.start:#x} and {again.start:#x} are {words}"
                )


def _byte_at(place: Place, others: Sequence[Place]) -> set[tuple[str, int]]:
    return {
        (each.memory, each.byte + place.start - each.start)
        for each in _candidates(place, others)
        if each.start <= place.start < each.end
    }


def _compare_cores(
    ours: Mapping[str, CoreKind], theirs: Mapping[str, CoreKind]
) -> Iterator[Difference]:
    for name in (*ours, *(each for each in theirs if each not in ours)):
        one, other = ours.get(name), theirs.get(name)
        if one is None:
            yield Difference(f"their core {name}", "not described")
        elif other is None:
            yield Difference(f"core {name}", "not in the file")
        else:
            yield from _compare_core(name, one, other)


def _compare_core(name: str, one: CoreKind, other: CoreKind) -> Iterator[Difference]:
    if other.core and one.core != other.core:
        yield Difference(f"core {name}", f"{one.core} here, {other.core} in the file")
    if other.isas and one.isas[0] not in other.isas:
        file = " or ".join(other.isas)
        yield Difference(f"isa of {name}", f"{one.isas[0]} here, {file} in the file")
    if other.clock and one.clock != other.clock:
        yield Difference(
            f"clock of {name}",
            f"{(one.clock or 0) / 1e6:g} MHz here, {other.clock / 1e6:g} MHz in the file",
        )


def _compare_devices(
    ours: Mapping[str, int | None], theirs: Mapping[str, int | None]
) -> Iterator[Difference]:
    for name, start in ours.items():
        if name not in theirs:
            yield Difference(f"device {name}", "not in the file")
        elif start is not None and start != theirs[name]:
            yield Difference(f"device {name}", f"{start:#x} here, {theirs[name]:#x} in the file")
    for name in theirs:
        if name not in ours:
            yield Difference(f"their device {name}", "not described")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A description beside one file."""

    chip: str
    entry: Mapping[str, Any]
    ours: Side
    theirs: Side
    found: tuple[Difference, ...]

    @property
    def reasons(self) -> Mapping[str, str]:
        """Explanations of the list, by what a difference is about."""
        groups = self.entry.get("differences", ())
        return {about: group["why"] for group in groups for about in group["about"]}

    def faults(self) -> Iterator[str]:
        """Yield differences without explanation, and explanations of what does not differ so."""
        abouts, reasons = {each.about for each in self.found}, {*self.reasons}
        yield from (f"not explained: {each}" for each in sorted(abouts - reasons))
        yield from (f"no such difference: {each}" for each in sorted(reasons - abouts))
        for group in self.entry.get("differences", ()):
            missing = sum(each.missing for each in self.found if each.about in group["about"])
            if missing != group.get("bytes", 0):
                yield f"{', '.join(group['about'])}: {missing} bytes differ, not as explained"

    def count_compared(self) -> str:
        """Return how many things of the file stand beside the description."""
        places = self.theirs.places
        memories = {each.memory for each in places}
        counts = (
            (len(memories), "memory", "memories"),
            (len(places) if len(places) > len(memories) else 0, "address", "addresses"),
            (len(self.theirs.cores), "core", "cores"),
            (len(self.theirs.devices), "device", "devices"),
            (len(self.ours.steps) if self.theirs.registers else 0, "register", "registers"),
        )
        return ", ".join(f"{n} {one if n == 1 else more}" for n, one, more in counts if n)

    def row(self) -> str:
        """Return it as a row of the table in docs/chips.md."""
        name = Path(self.chip).stem
        chip = f"[`{name}`](../{self.chip})" if "/" in self.chip else f"`{name}`"
        version = self.entry.get("version") or self.entry["commit"][:10]
        file = f"{self.entry['repository']} `{self.entry['path']}`, {version}"
        groups = self.entry.get("differences", ())
        why = "<br>".join(f"{_subjects(each['about'])}: {each['why']}" for each in groups)
        return f"| {chip} | {file} | {self.count_compared()} | {why or 'none'} |"


def _subjects(abouts: Sequence[str]) -> str:
    names = (re.sub(r"^(memory|device|core|their( core| device)?) |@.*", "", it) for it in abouts)
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def hold(chip: Mapping[str, Any], folder: Path) -> Iterator[Held]:
    """Yield a chip of the list beside each of its files that `folder` has."""
    source = chip["chip"]
    soc = load_soc(TOP / source if "/" in source else source)
    ours = side_of_description(soc)
    for entry in chip["files"]:
        path = folder / entry["repository"] / entry["path"]
        theirs = side_of_file(read(path, entry), entry)
        found = tuple(dict.fromkeys(compare(ours, theirs)))
        yield Held(chip=source, entry=entry, ours=ours, theirs=theirs, found=found)


def plant(helds: Sequence[Held]) -> Iterator[tuple[str, Side]]:
    """Yield a description with half of one place, or with one that begins at its middle.

    Only places of which a file has all bytes: what no file has, no file can prove wrong.
    """
    ours = helds[0].ours
    for index, place in enumerate(ours.places):
        if not agrees(place, helds):
            continue
        half = place.size // 2
        for what, wrong in (
            ("half of", replace(place, size=half)),
            ("the middle of", replace(place, start=place.start + half)),
        ):
            places = (*ours.places[:index], wrong, *ours.places[index + 1 :])
            yield f"{what} {place.name}", replace(ours, places=places)


def agrees(place: Place, helds: Iterable[Held]) -> bool:
    """Tell whether one of the files has each byte of a place of the description."""
    return any(
        held.theirs.places and not subtract(place, _candidates(place, held.theirs.places))
        for held in helds
    )


def is_noticed(wrong: Side, helds: Iterable[Held]) -> bool:
    """Tell whether a wrong description differs from a file otherwise than the description."""
    return any({*compare(wrong, held.theirs)} != {*held.found} for held in helds)


def main() -> int:
    """Hold all chips, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="checkouts of the vendors' repositories")
    parser.add_argument("chips", nargs="*", help="default: all of the list")
    parser.add_argument("--table", action="store_true", help="print rows of docs/chips.md")
    parser.add_argument(
        "--plant", action="store_true", help="make places wrong, and count what is noticed"
    )
    arguments = parser.parse_args()
    listed = yaml.safe_load(LIST.read_text("utf-8"))["chips"]
    wanted = [it for it in listed if not arguments.chips or it["chip"] in arguments.chips]
    chips = [(*hold(chip, arguments.folder),) for chip in wanted]
    if arguments.table:
        print(*(held.row() for helds in chips for held in helds), sep="\n")
    elif arguments.plant:
        count_planted(chips)
    else:
        return show(chips)
    return 0


def show(chips: Sequence[tuple[Held, ...]]) -> int:
    """Print all that differs, with its explanation; return 1 if one is missing."""
    faults = 0
    for held in (held for helds in chips for held in helds):
        print(f"{held.chip}, {held.entry['path']}: {held.count_compared()}")
        for each in held.found:
            print(f"  {each.about}: {each.text}")
            print(f"    {held.reasons.get(each.about, 'not explained')}")
        for fault in held.faults():
            faults += 1
            print(f"  {fault}")
    held_places = [(place, helds) for helds in chips for place in helds[0].ours.places]
    same = sum(agrees(place, helds) for place, helds in held_places)
    differences = sum(len(held.found) for helds in chips for held in helds)
    print(
        f"{len(chips)} descriptions, {sum(map(len, chips))} files, {differences} differences; "
        f"a file has all bytes of {same} of {len(held_places)} places of memories"
    )
    return min(faults, 1)


def count_planted(chips: Sequence[tuple[Held, ...]]) -> None:
    """Print how many wrong places are noticed, and which are not."""
    noticed = []
    for helds in chips:
        for what, wrong in plant(helds):
            noticed.append(is_noticed(wrong, helds))
            if not noticed[-1]:
                print(f"{helds[0].chip}: {what} is not noticed")
    print(f"{sum(noticed)} of {len(noticed)} are noticed")


if __name__ == "__main__":
    sys.exit(as_command(main))
