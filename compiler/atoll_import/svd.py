# SPDX-License-Identifier: Apache-2.0
"""Cores, engines and mailboxes out of CMSIS-SVD.

Source: CMSIS-SVD, schema version 1.3 (https://open-cmsis-pack.github.io/svd-spec/). The format has
no memories.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from atoll.diagnostics.units import format_size
from atoll.protocol import ConsoleRegister
from atoll.resolve.mailbox import REGISTERS as MAILBOX
from atoll_import.engines import engine_of
from atoll_import.extension import extend_facts, own_entries
from atoll_import.facts import Core, Engine, Facts, LeftOut, Master, memory_left_out
from atoll_import.reader import Given, Importer
from atoll_import.vendor_values import (
    arm_isas,
    core_named,
    count_phrase,
    is_dma,
    kin_of,
    number_of,
    riscv_isas,
    stem_of,
)
from atoll_import.xml_tree import Element, read_xml

_ROOT = re.compile(r"<device(?:\s[^>]{0,1000})?>")
_VERSION = re.compile(r"<device\s[^>]{0,1000}schemaVersion")
_MOST_COPIES = 4096
_RISCV = ("rv32", "rv64")
_LONGEST_CHAIN = 16
_UNUSED = (
    *("fields", "enumeratedValues", "description"),
    *("displayName", "access", "protection", "resetValue", "resetMask", "dataType"),
)
_SPAN = re.compile(r"([0-9]{1,4})-([0-9]{1,4})")
_LETTERS = re.compile(r"([A-Z])-([A-Z])")
_CONSOLE = {register.name: register.value for register in ConsoleRegister}


class Svd(Importer):
    """Reads ``.svd``."""

    suffixes = (".svd", ".xml")

    def recognises(self, given: Given) -> bool:
        """Tell by the root, a ``device`` of a schema version, or in a file called so."""
        if given.path.suffix.lower() == self.suffixes[0]:
            return bool(_ROOT.search(given.head))
        return bool(_VERSION.search(given.head))

    def read(self, given: Given) -> Facts:
        """Return the core and the blocks of registers that have a place in a description."""
        root = read_xml(given, *_UNUSED)
        if root.tag != "device":
            given.refuse(f"the root is '{root.tag}', not 'device'", root.line)
        return _Device(given, root).facts()


IMPORTER = Svd()


class _Device:
    """The peripherals of a device by what they are."""

    def __init__(self, given: Given, root: Element) -> None:
        self._given = given
        self._root = root
        peripherals = root.first("peripherals")
        self._peripherals = tuple(peripherals.each("peripheral")) if peripherals else ()
        self._known: dict[int, Mapping[str, int]] = {}
        self._named = {each.text_at("name"): each for each in self._peripherals}

    def facts(self) -> Facts:
        engines: list[Engine] = []
        cores = [*self._core()]
        masters: list[Master] = []
        left_out: list[LeftOut] = [*self._nowhere()]
        console = None
        others = 0
        kept: dict[str, list[tuple[str, int, Element]]] = {}
        placed = sorted(self._place_peripherals(), key=lambda it: (it[1], it[0]))
        for name, origin, each in placed:
            kind, offsets = self._of(each, "groupName"), self._offsets(each)
            source = self._given.source(each.line, f"peripheral {name}")
            left_out += self._buffers(name, origin, each)
            engine = engine_of(name, offsets, origin, _line(each), source)
            if engine:
                engines.append(engine)
            elif kind == "mailbox" and offsets == MAILBOX:
                cores.append(Core(name=name, mailbox=origin, irq=_line(each), source=source))
            elif kind == "console" and offsets == _CONSOLE:
                console = origin
            elif is_dma(name):
                alike = kept.setdefault(stem_of(name), [])
                if why := self._twin((name, origin, each), alike):
                    left_out.append(LeftOut(f"master {name} at {origin:#x}", why, source))
                    continue
                alike.append((name, origin, each))
                what = f"at {origin:#x}{_lines(each)}"
                masters.append(Master(name=name, what=what, source=source))
            else:
                others += 1
        if others:
            source = self._given.source(self._root.line)
            left_out.append(
                LeftOut(count_phrase(others), "a description has no place for them", source)
            )
        facts = Facts(
            name=self._root.text_at("name"),
            cores=tuple(cores),
            engines=tuple(engines),
            masters=tuple(masters),
            left_out=tuple(left_out),
            console=console,
        )
        return extend_facts(facts, own_entries(self._given, self._root))

    def _twin(
        self, one: tuple[str, int, Element], others: Sequence[tuple[str, int, Element]]
    ) -> str:
        """Say why a block is taken for one of `others`, whose names are like its; empty if not."""
        name, origin, peripheral = one
        for other, at, element in others:
            same = self._offsets(peripheral) and self._shape(peripheral) == self._shape(element)
            chains = (*self._chain(peripheral), *self._chain(element))
            derived = len({id(each) for each in chains}) < len(chains)
            bit = origin ^ at
            if other != name and (same or derived) and bit.bit_count() == 1:
                how = f"name, registers and address, but for bit {bit.bit_length() - 1}, are as of"
                return f"its {how} '{other}' at {at:#x}: taken for that at another security level"
        return ""

    def _shape(self, peripheral: Element) -> tuple[Mapping[str, int], list[tuple[str, str]]]:
        """Return the registers of a peripheral and the sizes of its blocks."""
        blocks = next(
            filter(None, ([*each.each("addressBlock")] for each in self._chain(peripheral))), []
        )
        sizes = sorted((each.text_at("offset"), each.text_at("size")) for each in blocks)
        return self._offsets(peripheral), sizes

    def _nowhere(self) -> Iterator[LeftOut]:
        """Yield the peripherals of which the file has an empty address, as published ones do."""
        for each in self._peripherals:
            if not each.text_at("baseAddress"):
                source = self._given.source(each.line, f"peripheral {each.text_at('name')}")
                yield LeftOut("its registers", "they have no address", source)

    def _place_peripherals(self) -> Iterator[tuple[str, int, Element]]:
        """Yield each peripheral with name and address; an array as its members."""
        copies = 0
        for each in self._peripherals:
            if not each.text_at("baseAddress"):
                continue
            origin = number_of(each.text_at("baseAddress"))
            if origin is None:
                what = f"a peripheral has the address '{each.text_at('baseAddress')}'"
                self._given.refuse(what, each.line, "write its baseAddress as a number")
            count = number_of(each.text_at("dim")) or 1
            step = number_of(each.text_at("dimIncrement")) or 0
            copies += count - 1
            if copies > _MOST_COPIES:
                what = f"the arrays of peripherals have more than {_MOST_COPIES:,} members"
                self._given.refuse(what, each.line, "correct its 'dim'")
            for index, word in enumerate(_indices(each.text_at("dimIndex"), count)):
                name = each.text_at("name").replace("[%s]", word).replace("%s", word)
                yield name, origin + index * step, each

    def _buffers(self, name: str, origin: int, peripheral: Element) -> Iterator[LeftOut]:
        """Yield the memories of a peripheral, which cores may not have for themselves."""
        for each in self._chain(peripheral):
            blocks = tuple(each.each("addressBlock"))
            for block in blocks:
                if block.text_at("usage") == "buffer":
                    at = origin + (number_of(block.text_at("offset")) or 0)
                    source = self._given.source(block.line, f"peripheral {name}")
                    size = number_of(block.text_at("size"))
                    many = f"{format_size(size)}: " if size else ""
                    why = f"{many}it is the buffer of a peripheral"
                    yield memory_left_out(name, at, why, source)
            if blocks:
                return

    def _core(self) -> Iterator[Core]:
        cpu = self._root.first("cpu")
        if cpu is None:
            return
        word = cpu.text_at("name")
        core = core_named(word)
        source = self._given.source(cpu.line, f"cpu {word}")
        isas: tuple[str, ...] = ()
        is_riscv = word.lower().startswith(_RISCV)
        if (kin := kin_of(word)) and kin.startswith("cortex_m"):
            isas = arm_isas(kin, floats=_floats(cpu), dsp=_flag(cpu, "dspPresent"))
        elif is_riscv:
            isas = riscv_isas("riscv", word)
        said = word if is_riscv else ""
        yield Core(name="cpu", word=word, core=core, isas=isas, said=said, source=source)

    def _of(self, peripheral: Element, tag: str) -> str:
        """Return what a peripheral says, or the one that it is derived from."""
        for each in self._chain(peripheral):
            if each.first(tag):
                return each.text_at(tag)
        return ""

    def _offsets(self, peripheral: Element) -> Mapping[str, int]:
        """Return the offsets of its registers by name; many peripherals may have one's."""
        for each in self._chain(peripheral):
            if registers := each.first("registers"):
                if id(registers) in self._known:
                    return self._known[id(registers)]
                found = {
                    r.text_at("name"): number_of(r.text_at("addressOffset"))
                    for r in registers.children
                }
                offsets = {name: offset for name, offset in found.items() if offset is not None}
                return self._known.setdefault(id(registers), offsets)
        return {}

    def _chain(self, peripheral: Element) -> Iterator[Element]:
        """Yield a peripheral and those that it is derived from, each once."""
        seen: set[int] = set()
        found: Element | None = peripheral
        while found is not None and id(found) not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(id(found))
            yield found
            found = self._named.get(found.attributes.get("derivedFrom", ""))


def _indices(said: str, count: int) -> Sequence[str]:
    """Return the words by which the members of an array differ, such as of ``A,B`` or ``3-6``."""
    words = said.replace(" ", "").split(",")
    if span := _SPAN.fullmatch(said.strip()):
        words = [str(number) for number in range(int(span[1]), int(span[2]) + 1)][:_MOST_COPIES]
    elif letters := _LETTERS.fullmatch(said.strip()):
        words = [chr(code) for code in range(ord(letters[1]), ord(letters[2]) + 1)]
    return words if len(words) == count and count > 1 else [str(n) for n in range(count)]


def _line(peripheral: Element) -> int | None:
    """Return the interrupt of a peripheral that has one."""
    lines = [number_of(each.text_at("value")) for each in peripheral.each("interrupt")]
    return lines[0] if len(lines) == 1 else None


def _lines(peripheral: Element) -> str:
    """Say which interrupts a peripheral has."""
    lines = [number_of(each.text_at("value")) for each in peripheral.each("interrupt")]
    known = [str(line) for line in lines if line is not None]
    return f", interrupts {', '.join(known)}" if known else ""


def _flag(cpu: Element, tag: str) -> bool | None:
    """Return a truth value of the schema, None if it is not said."""
    return {"true": True, "1": True, "false": False, "0": False}.get(cpu.text_at(tag))


def _floats(cpu: Element) -> int | None:
    present, double = _flag(cpu, "fpuPresent"), _flag(cpu, "fpuDP")
    if present is None or (
        present and double is None and cpu.text_at("name") in ("CM7", "CM55", "CM52", "CM85")
    ):
        return None
    return present + bool(present and double)
