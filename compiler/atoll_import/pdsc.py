# SPDX-License-Identifier: Apache-2.0
"""Cores and memories of a device out of a CMSIS-Pack description.

Source: Open-CMSIS-Pack, schema 1.7 of PDSC, section "devices"
(https://open-cmsis-pack.github.io/Open-CMSIS-Pack-Spec/main/html/pdsc_family_pg.html). What a
family and a subfamily say holds for their devices, and what a device says for its variants.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import accumulate, chain, islice

from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass
from atoll_import.facts import Core, Facts, LeftOut, Memory, memory_left_out
from atoll_import.reader import Given, Importer
from atoll_import.vendor_values import arm_isas, core_named, kin_of, number_of
from atoll_import.xml_tree import Element, read_xml

_ROOT = re.compile(r"<package\s[^>]{0,1000}schemaVersion")
_UNUSED = ("conditions", "components", "examples", "releases", "sequences", "debugvars", "boards")
_LEVELS = {"family": "Dfamily", "subFamily": "DsubFamily", "device": "Dname", "variant": "Dvariant"}
_NAMED = ("device", "variant")
_FLOATS = {"NO_FPU": 0, "0": 0, "FPU": 1, "SP_FPU": 1, "1": 1, "DP_FPU": 2, "2": 2}
_DSP = {"NO_DSP": False, "0": False, "DSP": True, "1": True}
_VECTORS = {"NO_MVE": 0, "0": 0, "MVE": 1, "1": 1, "FP_MVE": 2, "2": 2}
_MOST_NAMED = 8
_MOST_COMPARED = 2000


class Pdsc(Importer):
    """Reads ``.pdsc``."""

    suffixes = (".pdsc",)

    def recognises(self, given: Given) -> bool:
        """Tell by the root."""
        return bool(_ROOT.search(given.head))

    def read(self, given: Given) -> Facts:
        """Return the processors and the memories of one device."""
        root = read_xml(given, *_UNUSED)
        if root.tag != "package":
            given.refuse(f"the root is '{root.tag}', not 'package'", root.line)
        devices = root.first("devices")
        found = {each.name: each for each in _devices(devices, ())} if devices else {}
        return _facts(given, _find_device(given, found))


IMPORTER = Pdsc()


@dataclass(frozen=True, slots=True)
class _Device:
    """A device or variant, with the elements that speak of it, the outermost first."""

    name: str
    levels: tuple[Element, ...]

    def each(self, tag: str) -> Iterator[Element]:
        """Yield the elements of a tag, the outermost first."""
        for level in self.levels:
            yield from level.each(tag)


def _devices(parent: Element, levels: tuple[Element, ...]) -> Iterator[_Device]:
    for child in parent.each(*_LEVELS):
        inside = (*levels, child)
        if child.tag in _NAMED:
            yield _Device(child.attributes.get(_LEVELS[child.tag], ""), inside)
        yield from _devices(child, inside)


def _find_device(given: Given, found: dict[str, _Device]) -> _Device:
    """Return the device that the user names, or the only one.

    Raises:
        UsageError: E120.
    """
    by_name = {name.lower(): device for name, device in found.items()}
    if given.device.lower() in by_name:
        return by_name[given.device.lower()]
    if len(found) == 1 and not given.device:
        return next(iter(found.values()))
    if not found:
        given.refuse("the file describes no device", 1, "name a device family pack")
    known = islice(by_name, _MOST_COMPARED)
    close = get_close_matches(given.device.lower(), known, n=_MOST_NAMED, cutoff=0.4)
    names = [by_name[name].name for name in close] or list(found)[:_MOST_NAMED]
    what = f"has no device '{given.device}'" if given.device else f"has {len(found)} devices"
    remedy = f"name one with --device, such as {', '.join(names)}"
    raise UsageError("E120", f"'{given.path}' {what}", remedy=remedy)


def _facts(given: Given, device: _Device) -> Facts:
    cores = tuple(_cores(given, device))
    names = tuple(core.name for core in cores)
    found = tuple(_memories(given, device, names))
    memories = tuple(_mark_repeats(each for each in found if isinstance(each, Memory)))
    left_out = [each for each in found if isinstance(each, LeftOut)]
    left_out += _programmed_memories(given, device, memories)
    return Facts(name=device.name, cores=cores, memories=memories, left_out=tuple(left_out))


def _cores(given: Given, device: _Device) -> Iterator[Core]:
    """Yield the processors; an inner level adds to and overrides what an outer one says."""
    said: dict[str, dict[str, str]] = {}
    lines: dict[str, int] = {}
    every = (sorted(each.each("processor"), key=_is_named) for each in device.levels)
    for element in chain.from_iterable(every):
        name = element.attributes.get("Pname", "")
        said[name] = {**said.get("", {}), **said.get(name, {}), **element.attributes}
        lines[name] = element.line
    if len(said) > 1:
        said.pop("", None)
    for name, attributes in said.items():
        word = attributes.get("Dcore", "")
        core, kin = core_named(word), kin_of(word)
        yield Core(
            name=name or "cpu",
            word=word,
            core=core,
            isas=_isas(kin, attributes) if kin and kin.startswith("cortex_m") else (),
            clock=number_of(attributes.get("Dclock")) or None,
            source=given.source(lines[name], f"processor {name or word}"),
        )


def _is_named(processor: Element) -> bool:
    return "Pname" in processor.attributes


def _isas(core: str, attributes: dict[str, str]) -> tuple[str, ...]:
    return arm_isas(
        core,
        floats=_FLOATS.get(attributes.get("Dfpu", "")),
        dsp=_DSP.get(attributes.get("Ddsp", "")),
        vectors=_VECTORS.get(attributes.get("Dmve", "")),
    )


def _memories(given: Given, device: _Device, cores: Sequence[str]) -> Iterator[Memory | LeftOut]:
    """Yield the memories; those of one name that an inner level has replace an outer one's."""
    found: dict[tuple[str, str], list[Element]] = {}
    for level in device.levels:
        here: dict[tuple[str, str], list[Element]] = {}
        for element in level.each("memory"):
            key = _name(element), element.attributes.get("Pname", "")
            here.setdefault(key, []).append(element)
        found |= here
    for (name, core), element in ((key, each) for key, same in found.items() for each in same):
        origin = number_of(element.attributes.get("start"))
        size = number_of(element.attributes.get("size"))
        if origin is None or size is None:
            what = f"memory '{name}' has no start and size that are numbers"
            given.refuse(what, element.line)
        access = element.attributes.get("access", "")
        source = given.source(element.line, f"memory {name}")
        if "p" in access and not element.attributes.get("id"):
            why = f"its access '{access}' is that of peripherals"
            yield memory_left_out(name, origin, why, source)
            continue
        yield Memory(
            name=name,
            origin=origin,
            size=size,
            alias=element.attributes.get("alias", ""),
            writable=_writable(element),
            why=f"its access is '{access}'" if access else "by its id",
            cores=(core,) if core else tuple(cores),
            source=source,
        )


def _mark_repeats(memories: Iterable[Memory]) -> Iterator[Memory]:
    """Yield memories; those of one name and size at other addresses may be the first."""
    first: dict[tuple[str, int, bool | None], int] = {}
    for each in sorted(memories, key=lambda it: it.origin):
        alike = (each.name, each.size, each.writable)
        if each.alias or first.setdefault(alike, each.origin) == each.origin:
            yield each
        else:
            yield replace(each, alias=UNDECIDED, perhaps=each.name)


def _programmed_memories(
    given: Given, device: _Device, memories: Sequence[Memory]
) -> Iterator[LeftOut]:
    """Yield the memories of which only an algorithm that programs them speaks."""
    spans = sorted((each.origin, each.origin + each.size) for each in memories)
    starts = [start for start, _ in spans]
    ends = [0, *accumulate((end for _, end in spans), max)]
    for element in device.each("algorithm"):
        origin = number_of(element.attributes.get("start"))
        if origin is not None and ends[bisect_right(starts, origin)] <= origin:
            name = element.attributes.get("name", "")
            why = "only an algorithm that programs it speaks of it; describe it by hand"
            source = given.source(element.line, f"algorithm {name}")
            yield memory_left_out("flash", origin, why, source)


def _name(element: Element) -> str:
    return element.attributes.get("name") or element.attributes.get("id") or "memory"


def _writable(element: Element) -> bool | None:
    """Tell by the access, or by an id of the old form: IROM1, IRAM1, XRAM1 and such."""
    if access := element.attributes.get("access"):
        return "w" in access
    word = element.attributes.get("id", "").upper()
    if "ROM" in word:
        return False
    return True if "RAM" in word else None
