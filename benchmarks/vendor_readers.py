# SPDX-License-Identifier: Apache-2.0
"""Read what `atoll import` has no format for: constants, linker scripts, tables of chips.

Each reader returns the facts of one file as an importer does, with the blocks of registers that
the file names beside them. No reader knows a chip: `benchmarks/vendor_files.yaml` says, in the
words of the file, what it looks for.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass
from atoll_import.expressions import NoValueError, value_of
from atoll_import.facts import Core, Facts, Memory, Source
from atoll_import.reader import read_file
from atoll_import.vendor_values import arm_isas, core_named


@dataclass(frozen=True, slots=True)
class Said:
    """What a file says of a chip.

    Attributes:
        facts: as importers return them.
        blocks: name and first address of blocks of registers.
        registers: name of each register by its address; empty if the file has none.
    """

    facts: Facts
    blocks: tuple[tuple[str, int], ...] = ()
    registers: Mapping[int, str] | None = None


def read(path: Path, entry: Mapping[str, Any]) -> Said:
    """Return what the file at `path` says, read as its `entry` in the table of files asks.

    Raises:
        UsageError: E138, there is no such file; see `atoll_import.reader.read_file`.
        NoValueError: the file lacks a constant that the entry names.
    """
    if not path.is_file():
        repository, commit = entry["repository"], entry.get("commit", entry.get("version"))
        remedy = f"check out {repository} at {commit}, or make the file as the list says"
        raise UsageError("E138", f"there is no '{path}'", remedy=remedy)
    if reader := entry.get("reader"):
        return READERS[reader](path, entry)
    form, facts = read_file(path, device=entry.get("device", ""))
    if form == "svd":
        peripherals = tuple(_peripherals(ElementTree.parse(path).getroot()))
        named = tuple((name, base) for name, base, _ in peripherals)
        return Said(facts, named, _registers(peripherals))
    masters = ((each.name, re.search(r"at (0x[0-9a-f]+)", each.what)) for each in facts.masters)
    return Said(facts, tuple((name, int(at[1], 16)) for name, at in masters if at))


_Peripheral = tuple[str, int, ElementTree.Element]


def _peripherals(root: ElementTree.Element) -> Iterator[_Peripheral]:
    """Yield name and address of each, with the one whose registers it has."""
    found = {each.findtext("name", ""): each for each in root.iter("peripheral")}
    for name, each in found.items():
        like = found.get(each.get("derivedFrom", ""), each)
        yield name, int(each.findtext("baseAddress", ""), 0), like


def _registers(peripherals: tuple[_Peripheral, ...]) -> Mapping[int, str]:
    return {
        base + int(register.findtext("addressOffset", ""), 0): f"{name}.{register.findtext('name')}"
        for name, base, like in peripherals
        for register in like.iterfind("registers/register")
    }


def _constants(path: Path, entry: Mapping[str, Any]) -> Said:
    """Read constants, as `_DEFINED` has them; the entry names those of the memories."""
    text = path.read_text("utf-8", errors="replace")
    names = {
        macro or own or symbol: _plain(it) for macro, own, symbol, it in _DEFINED.findall(text)
    }
    memories = tuple(
        Memory(
            name=name,
            origin=value_of(place["start"], names),
            others=tuple(value_of(other, names) for other in place.get("others", ())),
            size=value_of(place.get("size") or f"{place['end']} - {place['start']}", names),
            writable=None,
            source=Source(path, 0),
        )
        for name, place in entry.get("memories", {}).items()
    )
    blocks = tuple((name, value_of(name, names)) for name in entry.get("devices", {}).values())
    return Said(Facts(memories=memories), blocks)


_DEFINED = re.compile(
    r"^[ \t]*(?:[#`]define[ \t]+(\w+)[ \t]+|localparam\b[^=\n]*[ \t](\w+)[ \t]*=[ \t]*"
    r"|([A-Z][A-Z0-9_]*)[ \t]*=[ \t]*)([^;\n]+)",
    re.M,
)
"""Text of each constant of C, SystemVerilog or a linker script, behind its name in one of three."""


def _plain(text: str) -> str:
    """Return an expression without what C and linker scripts add to those of SystemVerilog."""
    text = re.sub(r"/\*.*?\*/|//.*|\b_u(?=\()", "", text)
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    return re.sub(r"\b(\d+)([kKM])\b", lambda it: f"({it[1]} * {_SCALES[it[2]]})", text).strip()


_SCALES = {"k": 2**10, "K": 2**10, "M": 2**20}


def _linker(path: Path, entry: Mapping[str, Any]) -> Said:
    """Read the regions of the MEMORY of a linker script whose origin and length are numbers."""
    memories = []
    for name, flags, origin, length in _REGION.findall(path.read_text("utf-8")):
        try:
            first, size = value_of(_plain(origin), {}), value_of(_plain(length), {})
        except NoValueError:
            continue
        writable = "w" in flags.lower() if flags else None
        source = Source(path, 0)
        memories.append(
            Memory(name=name, origin=first, size=size, writable=writable, source=source)
        )
    return Said(Facts(memories=tuple(memories)))


_REGION = re.compile(
    r"^\s*(\w+)\s*(?:\(\s*(\w+)\s*\))?\s*:\s*ORIGIN\s*=\s*([^,\n]+?)\s*,\s*LENGTH\s*=\s*([^\n/]+)",
    re.M,
)


def _ranges(path: Path, entry: Mapping[str, Any]) -> Said:
    """Read those mappings of JSON that the entry's ``only`` names by their keys."""
    data = json.loads(path.read_text("utf-8"))
    found = {name: reduce(getitem, name.split("."), data) for name in entry["only"]}
    memories = tuple(
        Memory(
            name=name,
            origin=int(each["base"], 0),
            size=int(each["size"], 0),
            writable=None,
            source=Source(path, 0),
        )
        for name, each in found.items()
    )
    return Said(Facts(memories=memories))


def _nxp(path: Path, entry: Mapping[str, Any]) -> Said:
    """Read cores and memory blocks of a ``chip.yml`` of NXP's."""
    data = yaml.safe_load(path.read_text("utf-8"))
    chip = data["device.hardware_data"]["contents"]["devices"][0]
    source = Source(path, 0)
    cores, memories = [], []
    for block in chip["memory"]["memoryBlock"]:
        others = tuple(alias["addr"] for alias in block.get("aliases", ()))
        memories.append(_block(block, source, others=others))
    for each in chip["core"]:
        name = core_named(each["name"].removesuffix("F"))
        floats = ("NO_FPU", "SP_FPU", "DP_FPU").index(each["fpu"])
        isas = arm_isas(name, floats=floats, dsp=each.get("dsp")) if name else ()
        clock = 10**6 * each.get("frequency_mhz", chip.get("frequency_mhz", 0)) or None
        cores.append(Core(name=each["id"], word=each["type"], core=name, isas=isas, clock=clock))
        blocks = each.get("memory", {}).get("memoryBlock", ())
        memories += (_block(it, source, views=((each["id"], it["addr"]),)) for it in blocks)
    return Said(Facts(cores=tuple(cores), memories=tuple(memories)))


def _block(block: Mapping[str, Any], source: Source, **more: Any) -> Memory:
    return Memory(
        name=block["name"],
        origin=block["addr"],
        size=block["size"],
        writable=block["access"] == "RW",
        source=source,
        **more,
    )


READERS: Mapping[str, Callable[[Path, Mapping[str, Any]], Said]] = {
    "constants": _constants,
    "linker": _linker,
    "ranges": _ranges,
    "nxp": _nxp,
}
