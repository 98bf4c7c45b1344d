"""Cores, memories and DMA controllers out of a Renode platform description."""

import re
from collections.abc import Iterator, Sequence

from atoll.importing.facts import Core, Facts, LeftOut, Master, Memory
from atoll.importing.names import writable_by_name
from atoll.importing.reader import Given, Importer
from atoll.importing.repl_text import Entry, Registration, entries_of, included
from atoll.importing.values import arm_isas, core_named, counted, is_dma, number_of, riscv_isas

_MAX_CHARACTERS = 2**20
_BEGIN = re.compile(r'^(?:using[ \t]+"|\w+[ \t]*:[ \t]*[A-Z]\w*\.[\w.]+)', re.MULTILINE)
_MEMORY, _CPU, _DMA = "Memory.", "CPU.", "DMA."
_ARM = "cortex"
_CORES = {
    "CPU.PicoRV32": "picorv32",
    "CPU.IbexRiscV32": "ibex",
    "CPU.CV32E40P": "cv32e40p",
    "CPU.VexRiscv": "vexriscv",
    "CPU.RiscV32": "riscv",
    "CPU.RiscV64": "riscv",
}
"""Atoll's core by the type of Renode."""


class Repl(Importer):
    """Reads ``.repl``."""

    suffixes = (".repl",)

    def recognises(self, given: Given) -> bool:
        """Tell by an entry with a type in a namespace, or by an included file."""
        named = given.path.suffix.lower() in self.suffixes
        return bool(_BEGIN.search(given.head)) and ("sysbus" in given.head or named)

    def read(self, given: Given) -> Facts:
        """Return what is on the system bus."""
        if len(given.text) > _MAX_CHARACTERS:
            given.refuse(f"the file is longer than {_MAX_CHARACTERS:,} characters")
        entries = entries_of(given.text)
        files = included(given.text)
        if not entries and not files:
            given.refuse("the file has no entry such as 'sram: Memory.MappedMemory @ sysbus 0'", 1)
        cores = tuple(_core(given, entry) for entry in entries if entry.kind.startswith(_CPU))
        names = tuple(core.name for core in cores)
        found = [
            _memory(given, entry, names) for entry in entries if entry.kind.startswith(_MEMORY)
        ]
        left_out = [each for each in found if isinstance(each, LeftOut)]
        for name, line in files:
            why = "it is another file: import it too"
            left_out.append(LeftOut(f"using {name}", why, given.source(line)))
        others = sum(not entry.kind.startswith((_CPU, _MEMORY, _DMA)) for entry in entries)
        if others:
            why = "a description has no place for them"
            left_out.append(LeftOut(counted(others), why, given.source(1)))
        return Facts(
            name=given.path.stem,
            cores=cores,
            memories=tuple(each for each in found if isinstance(each, Memory)),
            masters=tuple(_masters(given, entries)),
            left_out=tuple(left_out),
        )


IMPORTER = Repl()


def _core(given: Given, entry: Entry) -> Core:
    word = entry.attributes.get("cpuType", "") or entry.kind
    core = _CORES.get(entry.kind) or core_named(word)
    isas: tuple[str, ...] = ()
    if core and core.startswith(f"{_ARM}_m"):
        isas = arm_isas(core, floats=None)
        if word.endswith("f"):
            isas = tuple(isa for isa in isas if "fp" in isa)
    elif core and entry.kind in _CORES:
        isas = riscv_isas(core, entry.attributes.get("cpuType", ""))
    source = given.source(entry.line, f"{entry.name}: {entry.kind} {word}")
    return Core(name=entry.name, word=word, core=core, isas=isas, source=source)


def _memory(given: Given, entry: Entry, cores: Sequence[str]) -> Memory | LeftOut:
    source = given.source(entry.line, f"{entry.name}: {entry.kind}")
    places = [(number_of(each.address), each) for each in entry.places]
    origins = sorted({address for address, _ in places if address is not None})
    size = number_of(entry.attributes.get("size")) or _size(entry.places)
    if not origins or size is None:
        lacks = "size" if origins else "address on the bus"
        return LeftOut(f"memory {entry.name}", f"it has no {lacks}", source)
    seen = [each.core for address, each in places if address is not None]
    return Memory(
        name=entry.name,
        origin=origins[0],
        others=tuple(origins[1:]),
        size=size,
        writable=writable_by_name(entry.name),
        why="by its name",
        cores=tuple(cores) if "" in seen else tuple(core for core in cores if core in seen),
        source=source,
    )


def _size(places: Sequence[Registration]) -> int | None:
    """Return the size that a place on the bus says."""
    for place in places:
        begin, end = number_of(place.address), number_of(place.end)
        if size := number_of(place.size):
            return size
        if begin is not None and end is not None and end > begin:
            return end - begin
    return None


def _masters(given: Given, entries: Sequence[Entry]) -> Iterator[Master]:
    for entry in entries:
        if entry.kind.startswith(_DMA) and is_dma(entry.kind.removeprefix(_DMA)) and entry.places:
            where = ", ".join(each.address for each in entry.places if each.address)
            source = given.source(entry.line, f"{entry.name}: {entry.kind}")
            yield Master(name=entry.name, what=f"at {where}" if where else "", source=source)
