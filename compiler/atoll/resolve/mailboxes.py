# SPDX-License-Identifier: Apache-2.0
"""Which cores have a mailbox: any but the host, in registers with a line there, or in memory."""

from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.description.fields import SOFTWARE
from atoll.description.remedies import add, put, remove
from atoll.description.tree import Key
from atoll.resolve.core_instances import lines_of
from atoll.resolve.draft import Draft
from atoll.resolve.mailbox import SIDE

_PARTS = ("mailbox", "irq")


def check_mailbox(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note half a mailbox, and one at the host, which has nobody to obey."""
    if not all(draft.knows("devices", name, part) for part in (*_PARTS, "kind")):
        return
    given = [part for part in _PARTS if getattr(cpu, part) is not None]
    if cpu.signals and not isinstance(cpu.mailbox, str):
        draft.faults.add(
            "E039",
            f"core '{name}' has 'signals' and no mailbox in a memory, which alone needs any",
            at=draft.where.at("devices", name, "signals"),
            remedy=remove("devices", name, "signals") + ", or write 'mailbox: MEMORY'",
        )
    if given and name == draft.host:
        draft.faults.add(
            "E039",
            f"'{name}' is the host: it runs its operators itself and takes no '{given[0]}'",
            at=draft.where.at("devices", name, given[0]),
            other=note(draft.where.at("host"), "the host is named here")
            if draft.where.is_set("host")
            else None,
            remedy=f"delete {' and '.join(map(repr, given))}, or name another core as 'host'",
        )
    elif isinstance(cpu.mailbox, str):
        _check_shared(draft, name, cpu, cpu.mailbox)
        _check_signals(draft, name, cpu)
    elif len(given) == 1:
        (missing,) = set(_PARTS) - set(given)
        draft.faults.add(
            "E039",
            f"core '{name}' has '{given[0]}' and no '{missing}': a mailbox of registers needs an"
            " address and an interrupt line at the host",
            at=draft.where.at("devices", name, given[0]),
            remedy=f"add '{missing}', or delete '{given[0]}'; 'mailbox: MEMORY' needs neither",
        )


def free_line(draft: Draft) -> int:
    """Return a line for devices at the host that none has yet, or its first."""
    core = draft.description.cores.get(draft.host or "")
    lines = lines_of(core.model.interrupts) if core else range(3, 32)
    taken = {getattr(device, "irq", None) for _, device in draft.devices()}
    return next((line for line in lines if line not in taken), lines[0])


def _check_shared(draft: Draft, name: str, cpu: Cpu, memory: str) -> None:
    """Check a mailbox in a memory: both sides must see at once what the other one writes."""
    at = draft.where.at("devices", name, "mailbox")
    if cpu.irq is not None and not (cpu.signals and cpu.signals.host):
        draft.faults.add(
            "E039",
            f"core '{name}' has an 'irq', and its mailbox in '{memory}' raises no interrupt",
            at=draft.where.at("devices", name, "irq"),
            other=note(at, "the memory is named here"),
            remedy="delete 'irq', or say with 'signals.host' what raises it",
        )
    described = draft.soc.memories.get(draft.real(memory))
    if described is None or not draft.knows("memories", draft.real(memory), "kind"):
        return
    if described.kind == "rom":
        draft.faults.add(
            "E247",
            f"the mailbox of '{name}' is in '{memory}', a ROM",
            at=at,
            other=note(draft.where.at("memories", draft.real(memory), "kind"), "it is one here"),
            remedy="name a RAM that host and core both see",
        )
        return
    sides = {each: core.cache for each, core in draft.cpus() if each in (name, draft.host)}
    names = {cache and cache.shared for cache in sides.values()}
    for each, cache in sides.items():
        if cache and cache.line > SIDE and (len(names) > 1 or None in names):
            draft.faults.add(
                "E248",
                f"a line of the data cache of '{each}' has {cache.line} B: of a mailbox in"
                f" memory, '{name}' and its host each write {SIDE} B, which must not share a line",
                at=at,
                other=note(draft.where.at("devices", each, "cache", "line"), "the line is here"),
                remedy="give the mailbox registers: an address and 'irq'",
            )


def _check_signals(draft: Draft, name: str, cpu: Cpu) -> None:
    """Check what tells both sides of a mailbox in memory to look."""
    signals, key = cpu.signals, ("devices", name, "signals")
    if signals is None or not draft.knows(*key):
        return
    if signals.event and (end := next((e for e in ("core", "host") if getattr(signals, e)), "")):
        draft.faults.add(
            "E039",
            f"core '{name}' has an event and an interrupt as signals",
            at=draft.where.at(*key, end),
            other=note(draft.where.at(*key, "event"), "the event is here"),
            remedy=remove(*key, "event") + f", or '{end}'",
        )
    elif signals.event:
        for each in (name, draft.host or name):
            described = draft.description.cores.get(each)
            if described and described.model.interrupts.controller != "nvic":
                draft.faults.add(
                    "E039",
                    f"'{each}' sends no events: that is what a Cortex-M does",
                    at=draft.where.at(*key, "event"),
                    other=note(draft.where.key_at("devices", each), "the core is here"),
                    remedy=remove(*key) + ", or say how they interrupt each other",
                )
    elif signals.host and signals.host.line is None and cpu.irq is None:
        draft.faults.add(
            "E039",
            f"core '{name}' interrupts its host, and no 'irq' says at which line",
            at=draft.where.at(*key, "host"),
            remedy=add(("devices", name, "irq"), free_line(draft)) + ", or correct the line",
        )
    elif signals.host and signals.host.line and cpu.irq is not None:
        draft.faults.add(
            "E039",
            f"core '{name}' interrupts its host at a line and by the software interrupt",
            at=draft.where.at("devices", name, "irq"),
            other=note(draft.where.at(*key, "host", "line"), "the latter is here"),
            remedy=remove("devices", name, "irq") + ", or that",
        )
    if signals.host and signals.host.line:
        _check_software(draft, draft.host or "", (*key, "host", "line"))
    if signals.core and signals.core.line == SOFTWARE:
        _check_software(draft, name, (*key, "core", "line"))
    elif signals.core and (described := draft.description.cores.get(name)):
        lines = lines_of(described.model.interrupts)
        if signals.core.line not in lines:
            draft.faults.add(
                "E044",
                f"interrupt {signals.core.line} is no line for devices at core '{name}'",
                at=draft.where.at(*key, "core", "line"),
                remedy=put((*key, "core", "line"), lines[0]) + f", or another one to {lines[-1]}",
            )


def _check_software(draft: Draft, name: str, key: Key) -> None:
    """Note a software interrupt of a core that has none, or none that start-up code knows."""
    described = draft.description.cores.get(name)
    if described and described.model.interrupts.controller != "fast":
        draft.faults.add(
            "E039",
            f"core '{name}' has no software interrupt: a standard RISC-V core has one",
            at=draft.where.at(*key),
            remedy=remove(*key[:-1]) + ", or name a line",
        )
