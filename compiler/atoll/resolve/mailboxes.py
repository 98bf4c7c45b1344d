# SPDX-License-Identifier: Apache-2.0
"""Which cores have a mailbox: any but the host, in registers with a line there, or in memory."""

from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.description.remedies import remove
from atoll.resolve.draft import Draft
from atoll.resolve.mailbox import SIDE
from atoll.resolve.signal_checks import check_signals

_PARTS = ("mailbox", "irq")


def check_mailbox(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note half a mailbox, and one at the host, which has nobody to obey."""
    if not all(draft.knows("devices", name, part) for part in (*_PARTS, "kind")):
        return
    given = [part for part in _PARTS if getattr(cpu, part) is not None]
    if cpu.signals and not isinstance(cpu.mailbox, str):
        remedy = remove("devices", name, "signals")
        draft.faults.add(
            "E039",
            f"core '{name}' has 'signals' and no mailbox in a memory, which alone needs any",
            at=draft.where.at("devices", name, "signals"),
            remedy=remedy if name == draft.host else remedy + ", or write 'mailbox: MEMORY'",
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
        check_signals(draft, name, cpu)
    elif len(given) == 1:
        (missing,) = set(_PARTS) - set(given)
        draft.faults.add(
            "E039",
            f"core '{name}' has '{given[0]}' and no '{missing}': a mailbox of registers needs an"
            " address and an interrupt line at the host",
            at=draft.where.at("devices", name, given[0]),
            remedy=f"add '{missing}', or delete '{given[0]}'; 'mailbox: MEMORY' needs neither",
        )


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
