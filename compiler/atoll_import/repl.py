# SPDX-License-Identifier: Apache-2.0
"""Cores, memories and DMA controllers out of a Renode platform description."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.description.fields import MAX_ENTRIES
from atoll.diagnostics.units import format_size
from atoll_import.description_names import writable_by_name
from atoll_import.facts import Core, Facts, LeftOut, Master, Memory, memory_left_out
from atoll_import.reader import Given, Importer
from atoll_import.repl_text import Entry, Registration, platform_of
from atoll_import.vendor_values import core_named, count_phrase, isas_by_name, number_of, riscv_isas

_MAX_CHARACTERS = 2**20
_BEGIN = re.compile(
    r'^(?:using[ \t]+"|(?:local[ \t]+)?\w+[ \t]*:[ \t]*[A-Z]\w*\.[\w.]+)', re.MULTILINE
)
_CORES = {
    "CPU.PicoRV32": "picorv32",
    "CPU.IbexRiscV32": "ibex",
    "CPU.CV32E40P": "cv32e40p",
    "CPU.VexRiscv": "vexriscv",
    "CPU.RiscV32": "riscv",
    "CPU.RiscV64": "riscv",
}
"""Atoll's core by the type of Renode."""

_CORTEX_M = "CPU.CortexM"
_OTHER_CORES = frozenset(
    (
        *(_CORTEX_M, "CPU.ARMv7A", "CPU.ARMv7AExperimental", "CPU.ARMv7R", "CPU.ARMv8A"),
        *("CPU.ARMv8R", "CPU.Arm", "CPU.Ri5cy", "CPU.Minerva", "CPU.VeeR_EL2", "CPU.Xtensa"),
        *("CPU.X86", "CPU.X86KVM", "CPU.X86_64", "CPU.X86_64KVM", "CPU.Sparc", "CPU.PowerPc"),
        *("CPU.PowerPc64", "CPU.MSP430X", "CoSimulated.CoSimulatedRiscV32"),
    )
)
_MEMORIES = ("Memory.MappedMemory", "Memory.ArrayMemory")
_NO_MEMORIES = {
    "Miscellaneous.BitBanding": "it shows the bits of another memory, each as a word",
    "MTD.DummySPIFlash": "it is behind a serial bus; where cores see it, the file does not say",
    "SPI.GenericSpiFlash": "it is behind a serial bus; where cores see it, the file does not say",
    "SPI.Micron_MT25Q": "it is behind a serial bus; where cores see it, the file does not say",
    "Miscellaneous.Redirector": "it shows what is at another address; describe it as an alias",
    "PCI.PCIeMemory": "it is behind PCI Express",
}
"""Why what is like a memory is none of the bus, by type."""

_DMA = frozenset(
    (
        *("DMA.STM32DMA", "DMA.STM32G0DMA", "DMA.STM32LDMA", "DMA.STM32DMA2D", "DMA.NXP_eDMA"),
        *("DMA.NPCX_MDMA", "DMA.TegraDma", "DMA.TegraDmaHost1X", "DMA.VybridDma", "DMA.UDMA"),
        *("DMA.RenesasRZG_DMAC", "DMA.RenesasDA14_DMA", "DMA.PL330_DMA", "DMA.MPFS_PDMA"),
        *("DMA.EFR32MG24_LDMA", "DMA.EFR32xG22_LDMA", "DMA.EFR32MG12_LDMA"),
        *("DMA.EOSS3_SystemDMABridge", "DMA.EOSS3_SPI_DMA", "Memory.MSP430F261X_DMA"),
    )
)
_PARTS = frozenset(("DMA.NXP_eDMA_Channels", "DMA.S32K3XX_DMAMUX", "DMA.IMXRT700_DmaMux"))
"""Channels and multiplexers of DMA controllers."""

_MASTERS = "DMA."
_DEVICES = (range(0x4000_0000, 0x6000_0000), range(0xE000_0000, 2**32))
"""Addresses at which a Cortex-M has devices (Armv7-M and Armv8-M manuals, memory map)."""
_OF_A_DEVICE = "a Cortex-M has registers there; describe it by hand if it is a memory"
_LEAST = 2**10
"""Bytes of a memory; what is less is as likely registers."""


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
        platform = platform_of(given.text)
        if platform.unclosed:
            remedy = "close the brace or comment that begins here"
            given.refuse("nothing closes what begins here", platform.unclosed, remedy)
        files = platform.included
        entries = [each for each in platform.entries if each.kind]
        if not entries and not files:
            given.refuse("the file has no entry such as 'sram: Memory.MappedMemory @ sysbus 0'", 1)
        cores = tuple(_core(given, each) for each in entries if _is_core(each))
        only_m = {each.kind for each in entries if _is_core(each)} == {_CORTEX_M}
        groups = _groups(entries)
        known = (each for each in entries if each.kind in _MEMORIES)
        found = [each for one in known for each in _memory(given, one, groups, only_m)]
        memories = [each for each in found if isinstance(each, Memory)]
        left_out = [each for each in found if isinstance(each, LeftOut)]
        left_out += _unknown(given, entries)
        for name, line in files:
            why = "it is another file: import it too"
            left_out.append(LeftOut(f"using {name}", why, given.source(line)))
        for entry in platform.entries:
            if not entry.kind and (entry.places or "size" in entry.attributes):
                why = "it is an entry of another file: say it there"
                what = f"what extends {entry.name}"
                left_out.append(LeftOut(what, why, given.source(entry.line)))
        others = sum(not _is_known(entry) for entry in entries)
        if others:
            why = "a description has no place for them"
            left_out.append(LeftOut(count_phrase(others), why, given.source(1)))
        return Facts(
            name=given.path.stem,
            cores=cores,
            memories=tuple(_without_hidden(memories, groups[""])),
            masters=tuple(_masters(given, entries)),
            left_out=tuple(left_out),
        )


IMPORTER = Repl()


def _is_core(entry: Entry) -> bool:
    return entry.kind in _CORES or entry.kind in _OTHER_CORES


def _is_known(entry: Entry) -> bool:
    """Tell whether an entry has a place in the description, or is named as left out."""
    return _is_core(entry) or entry.kind in {*_MEMORIES, *_NO_MEMORIES, *_DMA} or _is_odd(entry)


def _is_odd(entry: Entry) -> bool:
    """Tell whether an entry is of a kind like those that are read, but no such one is known."""
    room = entry.kind.partition(".")[0]
    known = _is_core(entry) or entry.kind in {*_MEMORIES, *_DMA, *_PARTS}
    return room in ("Memory", "DMA") and not known


def _unknown(given: Given, entries: Sequence[Entry]) -> Iterator[LeftOut]:
    """Yield what is like a memory or a DMA controller, and no such one of the bus."""
    for entry in entries:
        odd = f"Atoll knows no type {entry.kind}; describe it by hand" if _is_odd(entry) else ""
        if why := _NO_MEMORIES.get(entry.kind) or odd:
            source = given.source(entry.line, f"{entry.name}: {entry.kind}")
            for at in [number_of(each.address) for each in entry.places] or [None]:
                if entry.kind.startswith(_MASTERS):
                    yield LeftOut(f"master {entry.name}", why, source)
                else:
                    yield memory_left_out(entry.name, at, why, source)


def _groups(entries: Sequence[Entry]) -> Mapping[str, tuple[str, ...]]:
    """Return the cores that a registration means: all, a core, or those of a cluster."""
    cores = [entry for entry in entries if _is_core(entry)]
    clusters: dict[str, list[str]] = {}
    for core in cores:
        clusters.setdefault(core.above, []).append(core.name)
    every = tuple(core.name for core in cores)
    groups = {name: tuple(inside) for name, inside in clusters.items()}
    groups |= {core.name: (core.name,) for core in cores}
    whole = {name: every if len(each) == len(every) else each for name, each in groups.items()}
    return {**whole, "": every}


def _core(given: Given, entry: Entry) -> Core:
    word = entry.attributes.get("cpuType", "") or entry.kind
    core = _CORES.get(entry.kind) or core_named(word)
    isas: tuple[str, ...] = ()
    said = entry.attributes.get("cpuType", "") if entry.kind in _CORES else ""
    if core and entry.kind in _CORES:
        isas = riscv_isas(core, said)
    elif core:
        isas = isas_by_name(core, word)
    source = given.source(entry.line, f"{entry.name}: {entry.kind} {word}")
    return Core(name=entry.name, word=word, core=core, isas=isas, said=said, source=source)


def _memory(
    given: Given, entry: Entry, groups: Mapping[str, tuple[str, ...]], only_m: bool
) -> Iterator[Memory | LeftOut]:
    """Yield a memory with where each core sees it; what is for one core alone is its view."""
    source = given.source(entry.line, f"{entry.name}: {entry.kind}")
    size = number_of(entry.attributes.get("size")) or _size(entry.places)
    places = [
        (at, _visible_bytes(each, size or 0), groups.get(each.core, (each.core,)))
        for each in entry.places
        if (at := number_of(each.address)) is not None
    ]
    shown = [seen for _, seen, _ in places]
    most = range(size or 0) if range(size or 0) in shown else next(iter(shown), range(0))
    every = groups[""]
    known = [(at, cores) for at, seen, cores in places if seen == most]
    for at, seen, _ in places:
        if seen != most:
            why = f"{format_size(len(seen))} of it from byte {seen.start:#x} on are seen there;"
            yield memory_left_out(entry.name, at, f"{why} describe an alias by hand", source)
    if not known:
        why = "it has no address on the system bus"
        yield memory_left_out(entry.name, None, why, source)
    elif not size or (only_m and any(known[0][0] in span for span in _DEVICES)):
        why = _OF_A_DEVICE if size else "it has no size"
        yield from (memory_left_out(entry.name, at, why, source) for at, _ in known)
    else:
        common = sorted({at for at, cores in known if cores is every}) or _common_address(known)
        views: dict[str, int] = {}
        for at, cores in known:
            own = () if at in common else cores
            if rest := [core for core in own if views.setdefault(core, at) != at]:
                why = f"'{rest[0]}' sees it there too, and a view has one address"
                yield memory_left_out(entry.name, at, why, source)
        yield Memory(
            name=entry.name,
            origin=next(iter(common), known[0][0]),
            others=tuple(common[1:]),
            views=tuple(views.items()),
            space="" if common else f"what {known[0][1][0]} sees",
            size=len(most),
            writable=writable_by_name(entry.name) if size >= _LEAST else None,
            why="by its name",
            cores=every
            if any(cores is every for _, cores in known)
            else tuple(dict.fromkeys(core for _, cores in known for core in cores)),
            source=source,
        )


def _common_address(known: Sequence[tuple[int, tuple[str, ...]]]) -> list[int]:
    """Return the first address at which all cores see a memory that is there for some alone.

    There is none if they see it at different ones: which of them the bus has the file does not say.
    """
    seen: dict[int, set[str]] = {}
    for at, cores in known:
        seen.setdefault(at, set()).update(cores)
    every = set[str]().union(*seen.values())
    return [at for at, cores in seen.items() if cores == every][:1]


def _without_hidden(memories: Sequence[Memory], every: tuple[str, ...]) -> Iterator[Memory]:
    """Yield memories; what is there for a core alone hides from it what is there for all.

    Those that a description has no place for stay as they are.
    """
    own: dict[str, list[range]] = {}
    for each in memories:
        alone = {} if each.cores is every else dict.fromkeys(each.cores, each.origin)
        for core, at in {**alone, **dict(each.views)}.items():
            own.setdefault(core, []).append(range(at, at + each.size))
    for number, each in enumerate(sorted(memories, key=lambda it: (it.origin, -it.size, it.name))):
        places = [range(at, at + each.size) for at in (each.origin, *each.others)]
        hidden = {
            core
            for core, spans in (own.items() if number < MAX_ENTRIES else ())
            if each.cores is every
            and core not in dict(each.views)
            and any(max(a.start, b.start) < min(a.stop, b.stop) for a in places for b in spans)
        }
        seen = tuple(core for core in each.cores if core not in hidden)
        if each.cores is not every and not each.space and _is_elsewhere(each, memories):
            space = f"what {', '.join(each.cores)} sees"
            each = replace(each, space=space, views=tuple(dict.fromkeys(seen, each.origin).items()))
        yield replace(each, cores=seen) if hidden else each


def _is_elsewhere(memory: Memory, memories: Sequence[Memory]) -> bool:
    """Tell whether a core sees a memory without an address of the bus where others see one."""
    return any(
        core not in memory.cores
        and at < memory.origin + memory.size
        and memory.origin < at + it.size
        for it in memories
        if it.space
        for core, at in it.views
    )


def _visible_bytes(place: Registration, size: int) -> range:
    """Return which bytes of a memory of so many are seen at a place."""
    begin = number_of(place.offset) or 0
    end = min(size, begin + (_size((place,)) or size))
    return range(begin, max(begin, end))


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
        if entry.kind in _DMA:
            where = ", ".join(each.address for each in entry.places if each.address)
            source = given.source(entry.line, f"{entry.name}: {entry.kind}")
            yield Master(name=entry.name, what=f"at {where}" if where else "", source=source)
