# SPDX-License-Identifier: Apache-2.0
"""What our own exports say in the place of extensions of their format."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from atoll.description.accelerator_files import known_accelerators
from atoll.description.core_words import limits_of, loader_of, span_of, stack_of, targets_of
from atoll_import.facts import Core, Engine, Facts, Master, Memory, Source
from atoll_import.reader import Given
from atoll_import.vendor_values import core_named, isas_of, number_of
from atoll_import.xml_tree import Element

Entry = Mapping[str, str]


def extend_facts(facts: Facts, entries: Iterable[tuple[str, Entry, Source]]) -> Facts:
    """Return what a file says with what its extensions say better.

    Devices are those of the extensions if they have any; memories too, unless the format has some.

    Args:
        facts: what the file says in the format's own words.
        entries: ``device`` or ``memory``, its values, and where it is.
    """
    cores: list[Core] = []
    engines: list[Engine] = []
    masters: list[Master] = []
    memories: list[Memory] = []
    host = ""
    for tag, entry, source in entries:
        name, kind = entry.get("name", ""), entry.get("kind", "")
        if tag == "memory" and (memory := _memory(entry, source)):
            memories.append(memory)
        elif tag == "device" and kind in ("cpu", "dsp"):
            cores.append(_core(entry, source))
            host = name if entry.get("host") == "true" else host
        elif tag == "device" and kind in ("npu", "dma") and (engine := _engine(entry, source)):
            engines.append(engine)
        elif tag == "device" and kind == "master":
            masters.append(Master(name=name, what="", source=source))
    if not cores:
        return facts
    return replace(
        facts,
        cores=tuple(cores),
        engines=tuple(engines),
        masters=tuple(masters),
        memories=facts.memories or tuple(memories),
        host=host,
    )


def own_entries(given: Given, root: Element) -> Iterator[tuple[str, Entry, Source]]:
    """Yield what an XML file has below ``vendorExtensions`` in an element ``chip`` of ours."""
    chip = root.first("vendorExtensions", "chip")
    for each in chip.children if chip else ():
        what = f"{each.tag} {each.attributes.get('name', '')}"
        yield each.tag, each.attributes, given.source(each.line, what)


def _core(entry: Entry, source: Source) -> Core:
    word = entry.get("core", "")
    core = core_named(word)
    isa = entry.get("isa", "")
    return Core(
        name=entry.get("name", ""),
        kind=entry["kind"],
        word=word,
        core=core,
        isas=(isa,) if core and isa in isas_of(core) else isas_of(core) if core else (),
        clock=number_of(entry.get("clock")),
        mailbox=(mailbox := number_of(entry.get("mailbox"))),
        shared_mailbox=entry.get("mailbox", "") if mailbox is None else "",
        irq=number_of(entry.get("irq")),
        loader=loader_of(entry.get("loader", "")),
        code=span_of(entry.get("code", "")),
        data=span_of(entry.get("data", "")),
        stack=stack_of(entry.get("stack", "")),
        limits=limits_of(entry.get("limits", "")),
        targets=targets_of(entry.get("targets", "")),
        source=source,
    )


def _engine(entry: Entry, source: Source) -> Engine | None:
    """Return an engine; None if Atoll does not have it, or its address is missing."""
    accelerator, at = entry.get("accelerator", ""), number_of(entry.get("registers"))
    if at is None or accelerator not in known_accelerators():
        return None
    pairs = [word.partition(":") for word in entry.get("moves", "").split()]
    return Engine(
        name=entry.get("name", ""),
        accelerator=accelerator,
        moves=entry["kind"] == "dma",
        registers=at,
        irq=number_of(entry.get("irq")),
        between=tuple((begin, end) for begin, _, end in pairs),
        source=source,
    )


def _memory(entry: Entry, source: Source) -> Memory | None:
    origin, size = number_of(entry.get("origin")), number_of(entry.get("size"))
    if origin is None or size is None:
        return None
    return Memory(
        name=entry.get("name", ""),
        origin=origin,
        size=size,
        writable={"ram": True, "rom": False}.get(entry.get("kind", "")),
        why="its kind is said",
        source=source,
    )
