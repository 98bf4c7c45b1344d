# SPDX-License-Identifier: Apache-2.0
"""Cores, memories and engines out of an IP-XACT component.

Source: IEEE 1685-2009, 1685-2014 and 1685-2022, clauses on memory maps, address spaces and cpus of
a component.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from atoll.diagnostics.errors import SourceLoc, UsageError
from atoll_import.engines import engine_of
from atoll_import.expressions import NoValueError, value_of
from atoll_import.extension import extend_facts, own_entries
from atoll_import.facts import Core, Engine, Facts, LeftOut, Master, Memory, memory_left_out
from atoll_import.reader import Given, Importer
from atoll_import.values import core_named, count_phrase, is_dma, isas_by_name, number_of
from atoll_import.xml_tree import Element, read_xml

_ROOT = re.compile(r"<(?:spirit|ipxact):component\b")
_UNUSED = (
    "fileSets",
    "busInterfaces",
    "model",
    "field",
    "choices",
    "generators",
    "whiteboxElements",
)
_POLICY = ("accessPolicies", "accessPolicy", "access")
_WRITABLE = {"read-only": False, "read-write": True, "read-writeOnce": True, "write-only": True}


class IpXact(Importer):
    """Reads ``.xml`` of IP-XACT."""

    suffixes = (".xml", ".ipxact")

    def recognises(self, given: Given) -> bool:
        """Tell by the root, a component with a prefix of the standard."""
        return bool(_ROOT.search(given.head))

    def read(self, given: Given) -> Facts:
        """Return what the memory maps of the component hold."""
        root = read_xml(given, *_UNUSED)
        if root.tag != "component":
            given.refuse(f"the root is '{root.tag}', not 'component'", root.line)
        return _Component(given, root).facts()


IMPORTER = IpXact()


@dataclass(frozen=True, slots=True)
class _Map:
    """A memory map, or what a core has for itself.

    Attributes:
        element: with the blocks.
        cores: that see it; none if the file does not say.
        unit: bytes that an address counts.
    """

    element: Element
    cores: tuple[str, ...]
    unit: int


class _Component:
    """The memory maps of a component, each of which has addresses of its own."""

    def __init__(self, given: Given, root: Element) -> None:
        self._given = given
        self._root = root
        self._names: dict[str, str] = {}
        for each in root.walk():
            if each.tag == "parameter" and (value := each.said("value")):
                for name in (each.attributes.get("parameterId"), each.said("name")):
                    self._names.setdefault(name or "", value)

    def facts(self) -> Facts:
        """Return what the maps hold."""
        maps = [*self._maps()]
        found = [each for number, one in enumerate(maps) for each in self._blocks(one, number)]
        others = sum(each is None for each in found)
        memories = [*_once([each for each in found if isinstance(each, Memory)])]
        left_out = [each for each in (*memories, *found) if isinstance(each, LeftOut)]
        if others:
            why = "a description has no place for them"
            left_out.append(LeftOut(count_phrase(others), why, self._given.source(self._root.line)))
        facts = Facts(
            name=self._root.said("name"),
            cores=tuple(self._cores()),
            memories=tuple(each for each in memories if isinstance(each, Memory)),
            engines=tuple(each for each in found if isinstance(each, Engine)),
            masters=tuple(each for each in found if isinstance(each, Master)),
            left_out=tuple(left_out),
            console=next(self._consoles(), None),
        )
        return extend_facts(facts, own_entries(self._given, self._root))

    def _consoles(self) -> Iterator[int]:
        """Yield the address of Atoll's console, which our own exports have."""
        for block in self._root.walk():
            known = (block.said("name"), block.said("typeIdentifier"))
            if known == ("atoll_console", "console"):
                yield from filter(None, [self._value_of(block, "baseAddress")])

    def _processors(self) -> Iterator[Element]:
        cpus = self._root.first("cpus") or self._root.first("processors")
        yield from cpus.each("cpu", "processor") if cpus else ()

    def _cores(self) -> Iterator[Core]:
        for cpu in self._processors():
            word = cpu.said("name")
            source = self._given.source(cpu.line, f"cpu {word}")
            core = core_named(word)
            isas = isas_by_name(core, word.lower()) if core else ()
            yield Core(name=word or "cpu", word=word, core=core, isas=isas, source=source)

    def _maps(self) -> Iterator[_Map]:
        """Yield the maps of the bus, then the address spaces of cores with memories inside."""
        if maps := self._root.first("memoryMaps"):
            for each in maps.each("memoryMap"):
                cores = self._users("memoryMapRef", each.said("name"))
                yield _Map(each, cores, self._unit(each))
        if spaces := self._root.first("addressSpaces"):
            for space in spaces.each("addressSpace"):
                if local := space.first("localMemoryMap"):
                    cores = self._users("addressSpaceRef", space.said("name"))
                    yield _Map(local, cores, self._unit(space))

    def _users(self, reference: str, name: str) -> tuple[str, ...]:
        """Return the cores that refer to a map or a space, by attribute or text."""
        return tuple(
            cpu.said("name") or "cpu"
            for cpu in self._processors()
            for each in cpu.each(reference)
            if name in (each.text, *each.attributes.values())
        )

    def _unit(self, element: Element) -> int:
        return max((number_of(element.said("addressUnitBits")) or 8) // 8, 1)

    def _blocks(
        self, one: _Map, number: int
    ) -> Iterator[Memory | Engine | Master | LeftOut | None]:
        for block in one.element.children:
            if block.tag == "addressBlock":
                yield self._block(one, number, block, None)
            elif block.tag == "bank":
                yield from self._bank(one, number, block, self._value_of(block, "baseAddress"))
            elif block.tag == "subspaceMap":
                origin = self._value_of(block, "baseAddress")
                source = self._given.source(block.line, f"subspaceMap {block.said('name')}")
                why = "it is a window to the memories of another component: import that too"
                yield memory_left_out(block.said("name"), origin, why, source)

    def _bank(
        self, one: _Map, number: int, bank: Element, base: int | None, usage: str = ""
    ) -> Iterator[Memory | Engine | Master | LeftOut | None]:
        """Yield the blocks of a bank: one behind another, or beside each other in each word."""
        alignment = bank.attributes.get("bankAlignment", "parallel")
        usage = bank.said("usage") or usage
        blocks = [*bank.each("addressBlock", "bank")]
        if not blocks:
            source = self._given.source(bank.line, f"bank {bank.said('name')}")
            yield LeftOut(f"bank {bank.said('name')}", "it has no blocks", source)
        for block in blocks:
            use = block.said("usage") or usage
            if block.tag == "bank":
                yield from self._bank(one, number, block, base, usage)
            elif base is not None and alignment == "serial":
                yield self._block(one, number, block, base, use, bank.said("access"))
            elif use == "memory":
                why = f"it is in the {alignment} bank '{bank.said('name')}'; describe it by hand"
                source = self._given.source(block.line, f"addressBlock {block.said('name')}")
                at = None if base is None else base * one.unit
                yield memory_left_out(block.said("name"), at, why, source)
            else:
                yield None
            if alignment == "serial" and base is not None:
                base += self._length(block)

    def _length(self, block: Element) -> int:
        inside = sum(self._length(each) for each in block.each("addressBlock", "bank"))
        return inside or self._value_of(block, "range") or 0

    def _number(self, element: Element, tag: str) -> int | None:
        """Return the value of an element, None without it.

        Raises:
            UsageError: E187; it is an expression without a value.
        """
        text = element.said(tag)
        if not text:
            return None
        try:
            return value_of(text, self._names)
        except NoValueError as fault:
            raise UsageError(
                "E187",
                f"'{tag}' of '{element.said('name')}' is '{text}': {fault}",
                at=SourceLoc(self._given.path, element.line, 1),
                remedy=f"write a number in the place of '{text}'",
            ) from fault

    def _value_of(self, element: Element, tag: str) -> int | None:
        """Return the value of an element that is no memory, None if Atoll cannot tell it."""
        try:
            return value_of(element.said(tag), self._names)
        except NoValueError:
            return None

    def _block(
        self,
        one: _Map,
        number: int,
        block: Element,
        begin: int | None,
        usage: str = "",
        access: str = "",
    ) -> Memory | Engine | Master | LeftOut | None:
        """Return what a block of addresses is; None if it is other registers."""
        name, usage = block.said("name"), usage or block.said("usage")
        is_memory = usage == "memory"
        source = self._given.source(block.line, f"addressBlock {name}")
        if usage == "reserved":
            return None
        read = self._number if is_memory else self._value_of
        origin = read(block, "baseAddress") if begin is None else begin
        size = self._number(block, "range") if is_memory else None
        access = block.said("access") or block.said(*_POLICY) or access
        if is_memory:
            if origin is None or size is None:
                lacks = "range" if size is None else "baseAddress"
                self._given.refuse(f"memory '{name}' has no {lacks}", block.line)
            return Memory(
                name=name,
                origin=origin * one.unit,
                views=tuple((core, origin * one.unit) for core in one.cores) if number else (),
                space=one.element.said("name") if number else "",
                size=size * one.unit,
                writable=_WRITABLE.get(access),
                why=f"its access is {access}",
                cores=one.cores,
                source=source,
            )
        if origin is None:
            return None
        registers = {
            each.said("name"): number_of(each.said("addressOffset"))
            for each in block.each("register")
        }
        if not usage and not registers:
            why = "its usage, memory or registers, is not said"
            return LeftOut(f"block {name} at {origin * one.unit:#x}", why, source)
        offsets = {each: offset for each, offset in registers.items() if offset is not None}
        if engine := engine_of(name, offsets, origin, None, source):
            return engine
        if is_dma(name):
            return Master(name=name, what=f"at {origin:#x}", source=source)
        return None


def _once(memories: Sequence[Memory]) -> Iterator[Memory | LeftOut]:
    """Yield the memories; what two maps name with one size is one, which their cores see."""
    kept: list[Memory] = []
    places: dict[tuple[str, int], int] = {}
    for each in memories:
        place = places.setdefault((each.name, each.size), len(kept))
        if place == len(kept) or kept[place].space == each.space:
            kept.append(each)
            continue
        first = kept[place]
        cores, views = (*first.cores, *each.cores), first.views
        if each.origin != first.origin:
            views = (*views, *((core, each.origin) for core in each.cores))
            if not each.cores:
                why = f"it is at {first.origin:#x} of another map; its 'views' say who sees it here"
                yield memory_left_out(each.name, each.origin, why, each.source)
        kept[place] = replace(first, cores=tuple(dict.fromkeys(cores)), views=views)
    yield from kept
