# SPDX-License-Identifier: Apache-2.0
"""Cores, memories and engines out of an IP-XACT component.

Source: IEEE 1685-2009, 1685-2014 and 1685-2022, clauses on memory maps, address spaces and cpus of
a component.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import NoReturn

from atoll.diagnostics.errors import SourceLoc, UsageError
from atoll.records import dataclass
from atoll_import.engines import engine_of
from atoll_import.expressions import NoValueError, value_of
from atoll_import.extension import extend_facts, own_entries
from atoll_import.facts import (
    Core,
    Engine,
    Facts,
    LeftOut,
    Master,
    Memory,
    Source,
    memory_left_out,
)
from atoll_import.reader import Given, Importer
from atoll_import.vendor_values import core_named, count_phrase, is_dma, isas_by_name, number_of
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
_DEFINED = ("memoryMapDefinitionRef", "remapDefinitionRef")
_BLOCK_DEFINED = ("addressBlockDefinitionRef", "bankDefinitionRef")
_ELSEWHERE = "type definitions say what it is, which Atoll does not read; describe it by hand"
_MOST_ELEMENTS = 4096
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
        bits: that an address counts.
        name: of the space that its addresses are of; empty is the bus.
        why: why its memories are left out; empty if they are not.
        is_there: whether the component has it.
        is_local: whether no other core can see it.
        assumed: that it is taken for the bus, and others could be it; else empty.
    """

    element: Element
    cores: tuple[str, ...]
    bits: int
    name: str = ""
    why: str = ""
    is_there: bool = True
    is_local: bool = False
    assumed: str = ""

    def at(self, address: int | None) -> int | None:
        """Return which byte is at an address; the address itself if it counts no whole bytes."""
        whole = self.bits and self.bits % 8 == 0
        return address * self.bits // 8 if address is not None and whole else address


_Found = Memory | Engine | Master | LeftOut | None


class _Component:
    """The memory maps of a component, each of which has addresses of its own."""

    def __init__(self, given: Given, root: Element) -> None:
        self._given = given
        self._root = root
        self._repeated = 0
        parameters = [each for each in root.walk() if each.tag == "parameter"]
        said = {(each.text_at("name"), each.text_at("value")) for each in parameters}
        names = Counter(name for name, value in said if value)
        self._names = {"true": "1", "false": "0"}
        self._names |= {name: value for name, value in said if names[name] == 1 and value}
        for each in parameters:
            if value := each.text_at("value"):
                self._names[each.attributes.get("parameterId", "")] = value

    def facts(self) -> Facts:
        """Return what the maps hold."""
        blocks = [(one, each) for one in self._maps() for each in self._blocks(one)]
        found = [each for _, each in blocks]
        others = sum(each is None for each in found)
        known = [(one, each) for one, each in blocks if isinstance(each, Memory)]
        common = [each for one, each in known if not one.is_local]
        memories = [*_once(sorted(common, key=lambda it: (it.space, it.origin, it.name)))]
        memories += [each for one, each in known if one.is_local]
        left_out = [each for each in (*memories, *found) if isinstance(each, LeftOut)]
        if others:
            why = "a description has no place for them"
            left_out.append(LeftOut(count_phrase(others), why, self._given.source(self._root.line)))
        facts = Facts(
            name=self._root.text_at("name"),
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
            known = (block.text_at("name"), block.text_at("typeIdentifier"))
            if known == ("atoll_console", "console"):
                yield from filter(None, [self._value_of(block, "baseAddress")])

    def _processors(self) -> Iterator[Element]:
        cpus = self._root.first("cpus") or self._root.first("processors")
        for cpu in cpus.each("cpu", "processor") if cpus else ():
            if not self._absent(cpu):
                yield cpu

    def _cores(self) -> Iterator[Core]:
        for cpu in self._processors():
            word = cpu.text_at("name")
            source = self._given.source(cpu.line, f"cpu {word}")
            core = core_named(word)
            isas = isas_by_name(core, word.lower()) if core else ()
            yield Core(name=word or "cpu", word=word, core=core, isas=isas, source=source)

    def _maps(self) -> Iterator[_Map]:
        """Yield the maps: first that of the bus, and what cores have for themselves last.

        The bus is the map of memories that most cores refer to, by name the first of such.
        """
        inside = self._root.first("memoryMaps")
        plain = [
            _Map(each, self._users("memoryMapRef", each.text_at("name")), self._bits(each, each))
            for each in (inside.each("memoryMap") if inside else ())
        ]
        plain.sort(key=lambda it: (*_rank(it), _name(it)))
        inside = self._root.first("addressSpaces")
        own = [
            _Map(
                local,
                self._users("addressSpaceRef", space.text_at("name")),
                self._bits(space, local),
                name=space.text_at("name"),
                is_local=True,
            )
            for space in (inside.each("addressSpace") if inside else ())
            if not self._absent(space) and (local := space.first("localMemoryMap"))
        ]
        bus = next((one for one in plain if not self._absent(one.element)), None)
        for one in (*plain, *sorted(own, key=_name)):
            absent = self._absent(one.element)
            odd = "" if one.bits and one.bits % 8 == 0 else f"an address counts {one.bits} bits"
            space = "" if one is bus or (bus is None and len(own) == 1) else _name(one)
            alike = [each for each in plain if _rank(each) == _rank(one)]
            chosen = (
                "" if space or len(alike) < 2 else f", whose map {_name(one)} is taken for the bus"
            )
            one = replace(one, name=space, why=absent or odd, is_there=not absent, assumed=chosen)
            yield one
            for remap in one.element.each("memoryRemap"):
                state = remap.attributes.get("state") or remap.text_at("modeRef")
                why = one.why or self._absent(remap)
                only = f"it is there in the state '{state}' alone; describe it by hand"
                yield replace(one, element=remap, why=why or only, is_there=not why)

    def _users(self, reference: str, name: str) -> tuple[str, ...]:
        """Return the cores that refer to a map or a space, by attribute or text."""
        return tuple(
            cpu.text_at("name") or "cpu"
            for cpu in self._processors()
            for each in cpu.each(reference)
            if name in (each.text, *each.attributes.values())
        )

    def _bits(self, element: Element, blocks: Element) -> int:
        read = self._number if _has_memory(blocks) else self._value_of
        bits = read(element, "addressUnitBits")
        return 8 if bits is None else bits

    def _absent(self, element: Element) -> str:
        """Say why an element is not in the component, or nothing."""
        has_no_memory = element.tag == "register" or element.text_at("usage") == "register"
        read = self._value_of if has_no_memory else self._number
        text = element.text_at("isPresent")
        return f"its isPresent is '{text}'" if read(element, "isPresent") == 0 else ""

    def _blocks(self, one: _Map) -> Iterator[_Found]:
        """Yield what is in a map; what is not there, its memories alone, with the reason."""
        name = one.element.text_at("name")
        for reference in one.element.each(*_DEFINED):
            source = self._given.source(reference.line, f"{one.element.tag} {name}")
            yield LeftOut(f"{one.element.tag} {name}", _ELSEWHERE, source)
        for block in one.element.children:
            if block.tag in ("addressBlock", "bank", "subspaceMap"):
                yield from self._item(one, block)

    def _item(
        self, one: _Map, block: Element, base: int | None = None, usage: str = "", access: str = ""
    ) -> Iterator[_Found]:
        absent = self._absent(block)
        one = replace(one, why=one.why or absent, is_there=one.is_there and not absent)
        origin = self._value_of(block, "baseAddress") if base is None else base
        source = self._given.source(block.line, f"{block.tag} {block.text_at('name')}")
        if any(block.each(*_BLOCK_DEFINED)):
            place = "" if origin is None else f" at {one.at(origin):#x}"
            what = f"{block.tag} {block.text_at('name')}{place}"
            yield LeftOut(what, one.why or _ELSEWHERE, source)
        elif block.tag == "addressBlock":
            yield from self._elements(one, block, base, usage, access)
        elif block.tag == "bank":
            yield from self._bank(one, block, origin, usage)
        else:
            why = one.why or "it is a window to the memories of another component: import that too"
            yield memory_left_out(block.text_at("name"), one.at(origin), why, source)

    def _bank(self, one: _Map, bank: Element, base: int | None, usage: str) -> Iterator[_Found]:
        """Yield the blocks of a bank: one behind another, or beside each other in each word."""
        alignment = bank.attributes.get("bankAlignment", "parallel")
        usage = bank.text_at("usage") or usage
        blocks = [*bank.each("addressBlock", "bank", "subspaceMap")]
        if not blocks:
            source = self._given.source(bank.line, f"bank {bank.text_at('name')}")
            yield LeftOut(f"bank {bank.text_at('name')}", "it has no blocks", source)
        is_serial = alignment == "serial"
        beside = f"it is in the {alignment} bank '{bank.text_at('name')}'; describe it by hand"
        inside = one if is_serial and base is not None else replace(one, why=one.why or beside)
        for block in blocks:
            yield from self._item(inside, block, base, usage, bank.text_at("access"))
            if is_serial and base is not None and not self._absent(block):
                base += self._length(block)

    def _length(self, block: Element) -> int:
        blocks = block.each("addressBlock", "bank")
        inside = sum(self._length(each) for each in blocks if not self._absent(each))
        size = inside or self._value_of(block, "range") or 0
        return max((at for _, at in self._array(block, size)), default=0) + size

    def _array(self, block: Element, size: int) -> Iterator[tuple[str, int]]:
        """Yield index and offset of each element of an array; of what is none, of itself.

        Raises:
            UsageError: E138, it has too many; E187, a dimension has no value.
        """
        array = block.first("array")
        if array is None:
            yield "", 0
            return
        whose = f"'dim' of '{block.text_at('name')}'"
        dimensions = [self._value(each.text, whose, each.line) for each in array.each("dim")]
        stride = self._number(array, "stride")
        stride = size if stride is None else stride
        if min(dimensions, default=1) < 1 or prod(dimensions) > _MOST_ELEMENTS:
            self._refuse_array(block, array.line)
        for number, index in enumerate(product(*map(range, dimensions))):
            yield "".join(f"[{each}]" for each in index), number * stride

    def _refuse_array(self, block: Element, line: int) -> NoReturn:
        what = f"'{block.text_at('name')}' is an array without elements, or arrays have more than"
        self._given.refuse(f"{what} {_MOST_ELEMENTS:,}", line, "correct its 'dim'")

    def _number(self, element: Element, tag: str) -> int | None:
        """Return the value of an element, None without it.

        Raises:
            UsageError: E187; it is an expression without a value.
        """
        text = element.text_at(tag)
        whose = f"'{tag}' of '{element.text_at('name')}'"
        return self._value(text, whose, element.line) if text else None

    def _value(self, text: str, whose: str, line: int) -> int:
        try:
            return value_of(text, self._names)
        except NoValueError as fault:
            raise UsageError(
                "E187",
                f"{whose} is '{text}': {fault}",
                at=SourceLoc(self._given.path, line, 1),
                remedy=f"write a number in the place of '{text}'",
            ) from fault

    def _value_of(self, element: Element, tag: str) -> int | None:
        """Return the value of an element that is no memory, None if Atoll cannot tell it."""
        try:
            return value_of(element.text_at(tag), self._names)
        except NoValueError:
            return None

    def _elements(
        self, one: _Map, block: Element, begin: int | None, usage: str, access: str
    ) -> Iterator[_Found]:
        """Yield what each element of a block of addresses is; None if it is other registers."""
        usage = block.text_at("usage") or usage
        is_memory = usage == "memory"
        if usage == "reserved" or not (is_memory or one.is_there):
            return
        read = self._number if is_memory and not one.why else self._value_of
        origin = read(block, "baseAddress") if begin is None else begin
        size = read(block, "range")
        if is_memory and not one.why and (origin is None or size is None or size < 0):
            lacks = "baseAddress" if size is not None and size >= 0 else "range"
            self._given.refuse(f"memory '{block.text_at('name')}' has no {lacks}", block.line)
        for index, offset in self._array(block, size or 0):
            self._repeated += bool(index)
            if self._repeated > _MOST_ELEMENTS:
                self._refuse_array(block, block.line)
            name = block.text_at("name") + index
            at = None if origin is None else one.at(origin + offset)
            source = self._given.source(block.line, f"addressBlock {name}{one.assumed}")
            if is_memory and (one.why or at is None or size is None):
                yield memory_left_out(name, at, one.why, source)
            elif is_memory and at is not None and size is not None:
                access = block.text_at("access") or block.text_at(*_POLICY) or access
                yield _memory(one, name, at, size * one.bits // 8, access, source)
            else:
                yield None if at is None else self._registers(block, name, at, usage, source)

    def _registers(
        self, block: Element, name: str, origin: int, usage: str, source: Source
    ) -> _Found:
        """Return what a block of registers is; None if Atoll does not know it."""
        present = [each for each in block.each("register") if not self._absent(each)]
        registers = {
            each.text_at("name"): number_of(each.text_at("addressOffset"))
            for each in present
            if each.first("array") is None and each.first("dim") is None
        }
        if not usage and not present:
            why = "its usage, memory or registers, is not said"
            return LeftOut(f"block {name} at {origin:#x}", why, source)
        offsets = {each: offset for each, offset in registers.items() if offset is not None}
        if len(registers) == len(present) and (
            engine := engine_of(name, offsets, origin, None, source)
        ):
            return engine
        if is_dma(block.text_at("name")):
            return Master(name=name, what=f"at {origin:#x}", source=source)
        return None


def _memory(one: _Map, name: str, at: int, size: int, access: str, source: Source) -> Memory:
    return Memory(
        name=name,
        origin=at,
        views=tuple((core, at) for core in one.cores) if one.name else (),
        space=one.name,
        size=size,
        writable=_WRITABLE.get(access),
        why=f"its access is {access}",
        cores=one.cores,
        source=source,
    )


def _rank(one: _Map) -> tuple[bool, int]:
    """Return by what the map of the bus is the first."""
    return not _has_memory(one.element), -len(one.cores)


def _has_memory(element: Element) -> bool:
    return any(each.text_at("usage") == "memory" for each in element.walk())


def _name(one: _Map) -> str:
    return one.name or one.element.text_at("name")


def _once(memories: Sequence[Memory]) -> Iterator[Memory | LeftOut]:
    """Yield the memories; two of one name and size in two maps are taken for one."""
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
                why = f"it is taken for that at {first.origin:#x} of another map, by name and size"
                yield memory_left_out(each.name, each.origin, why, each.source)
        why = f"{first.why}; taken for that of {each.source}, by name and size"
        kept[place] = replace(first, cores=tuple(dict.fromkeys(cores)), views=views, why=why)
    yield from kept
