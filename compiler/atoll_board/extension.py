# SPDX-License-Identifier: Apache-2.0
"""What no format of registers has a place for, as entries for the place of extensions of each."""

from collections.abc import Iterator
from xml.etree.ElementTree import Comment, Element, SubElement

from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, Device, Dma, Engine, ResolvedSoc
from atoll_board.core_words import core_words

NAMESPACE = "urn:atoll:chip"
"""Of the XML elements, in the formats that are XML."""

NOT_HERE = "Not in this file: pools and what reaches them, parameters of engines."

Entry = dict[str, str]


def devices_of(soc: ResolvedSoc) -> tuple[Entry, ...]:
    """Return what the one table of devices has, and what else a core or an engine is, as texts.

    Addresses are those that the host sees.
    """
    seen = as_seen_by(soc, soc.host)
    return tuple(dict(_device(seen, device)) for device in seen.devices)


def memories_of(soc: ResolvedSoc) -> tuple[Entry, ...]:
    """Return the memories as the host sees them, as texts."""
    return tuple(
        {
            "name": each.name,
            "origin": f"{each.origin:#x}",
            "size": f"{each.size:#x}",
            "kind": each.kind,
        }
        for each in as_seen_by(soc, soc.host).memories
    )


def add_extension(parent: Element, tag: str, soc: ResolvedSoc, *, memories: bool) -> None:
    """Add the element `tag` of extensions, with devices and perhaps memories."""
    chip = SubElement(SubElement(parent, tag), f"{{{NAMESPACE}}}chip")
    chip.append(Comment(f" {NOT_HERE} "))
    for entry in devices_of(soc):
        SubElement(chip, f"{{{NAMESPACE}}}device", entry)
    for entry in memories_of(soc) if memories else ():
        SubElement(chip, f"{{{NAMESPACE}}}memory", entry)


def _device(soc: ResolvedSoc, device: Device) -> Iterator[tuple[str, str]]:
    yield from (("name", device.name), ("ordinal", str(device.ordinal)), ("kind", device.kind))
    yield from (("label", device.shown), ("loader", device.loader))
    if isinstance(device, Cpu):
        yield from (("core", device.spec.name), ("isa", device.isa), ("clock", str(device.clock)))
        if device.name == soc.host:
            yield "host", "true"
        if box := device.mailbox:
            yield from (("mailbox", f"{box.origin:#x}"), ("irq", str(device.irq)))
        if memory := device.shared_mailbox:
            yield "mailbox", memory.memory
        yield from core_words(device)
    if isinstance(device, Engine):
        yield from (
            ("accelerator", device.spec.name),
            ("registers", f"{device.registers.origin:#x}"),
        )
        if device.irq is not None:
            yield "irq", str(device.irq)
    if isinstance(device, Dma):
        yield "moves", " ".join(f"{begin}:{end}" for begin, end in device.moves)
