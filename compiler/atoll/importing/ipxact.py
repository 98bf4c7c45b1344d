"""Cores, memories and engines out of an IP-XACT component.

Source: IEEE 1685-2009, 1685-2014 and 1685-2022, clauses on memory maps, address spaces and cpus of
a component.
"""

import re
from collections.abc import Iterator

from atoll.importing.engines import engine_of
from atoll.importing.facts import Core, Engine, Facts, LeftOut, Master, Memory
from atoll.importing.reader import Given, Importer
from atoll.importing.values import core_named, counted, is_dma, isas_of, number_of
from atoll.importing.xml_tree import Element, read_xml

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
        found = [_block(given, block) for block in _blocks(root)]
        banks = [bank for each in _maps(root) for bank in each.each("bank")]
        others = sum(each is None for each in found)
        left_out = [_bank(given, bank) for bank in banks]
        if others:
            why = "a description has no place for them"
            left_out.append(LeftOut(counted(others), why, given.source(root.line)))
        return Facts(
            name=root.said("name"),
            cores=tuple(_cores(given, root)),
            memories=tuple(each for each in found if isinstance(each, Memory)),
            engines=tuple(each for each in found if isinstance(each, Engine)),
            masters=tuple(each for each in found if isinstance(each, Master)),
            left_out=tuple(left_out),
        )


IMPORTER = IpXact()


def _maps(root: Element) -> Iterator[Element]:
    if maps := root.first("memoryMaps"):
        yield from maps.each("memoryMap")


def _blocks(root: Element) -> Iterator[Element]:
    for each in _maps(root):
        yield from each.each("addressBlock")


def _cores(given: Given, root: Element) -> Iterator[Core]:
    cpus = root.first("cpus") or root.first("processors")
    for cpu in cpus.each("cpu", "processor") if cpus else ():
        word = cpu.said("name")
        source = given.source(cpu.line, f"cpu {word}")
        core = core_named(word)
        isas = isas_of(core) if core else ()
        yield Core(name=word or "cpu", word=word, core=core, isas=isas, source=source)


def _block(given: Given, block: Element) -> Memory | Engine | Master | None:
    """Return what a block of addresses is; None if it is other registers."""
    name, usage = block.said("name"), block.said("usage")
    origin, size = number_of(block.said("baseAddress")), number_of(block.said("range"))
    source = given.source(block.line, f"addressBlock {name}")
    if usage == "memory":
        if origin is None or size is None:
            what = f"memory '{name}' has no baseAddress and range that are numbers"
            given.refuse(what, block.line)
        access = block.said("access")
        writable = _WRITABLE.get(access)
        why = f"its access is {access}"
        return Memory(
            name=name, origin=origin, size=size, writable=writable, why=why, source=source
        )
    if origin is None or usage == "reserved":
        return None
    registers = {
        each.said("name"): number_of(each.said("addressOffset")) for each in block.each("register")
    }
    offsets = {each: offset for each, offset in registers.items() if offset is not None}
    if engine := engine_of(name, offsets, origin, None, source):
        return engine
    if is_dma(name):
        return Master(name=name, what=f"at {origin:#x}", source=source)
    return None


def _bank(given: Given, bank: Element) -> LeftOut:
    source = given.source(bank.line, f"bank {bank.said('name')}")
    return LeftOut(f"bank {bank.said('name')}", "describe its memories by hand", source)
