# SPDX-License-Identifier: Apache-2.0
"""What tells both sides of a mailbox in memory to look: by itself, and beside that of others."""

from collections.abc import Iterator

from atoll.description.devices import Cpu, Steps
from atoll.description.faults import note
from atoll.description.fields import SOFTWARE
from atoll.description.remedies import add, put, remove
from atoll.description.tree import Key
from atoll.resolve.core_instances import lines_of, local_of
from atoll.resolve.draft import Draft
from atoll.resolve.register_steps import address_of

Sequence = tuple[Key, str, Steps, str]
"""Its key, the core that makes it, its steps, and the core that is interrupted."""

_SOFTWARE_INTERRUPTS = range(0, 0x4000, 4)
"""Offsets of the registers msip in a core-local interruptor, one for each hart."""


def free_line(draft: Draft) -> int:
    """Return a line for devices at the host that none has yet, or its first."""
    core = draft.description.cores.get(draft.host or "")
    lines = lines_of(core.model.interrupts) if core else range(3, 32)
    taken = {getattr(device, "irq", None) for _, device in draft.devices()}
    return next((line for line in lines if line not in taken), lines[0])


def check_signals(draft: Draft, name: str, cpu: Cpu) -> None:
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
                    f"'{each}' cannot send events: only a Cortex-M can",
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


def check_harts(draft: Draft) -> None:
    """Note cores with one comparator, and a `hart` of a core without any."""
    seen: dict[tuple[int, int], str] = {}
    for name, cpu in draft.cpus():
        described = draft.description.cores.get(name)
        if described is None or not draft.knows("devices", name, "hart"):
            continue
        at = draft.where.at("devices", name, "hart")
        if cpu.hart and described.model.interrupts.controller != "fast":
            draft.faults.add(
                "E263",
                f"core '{name}' has no comparator in a core-local interruptor, and a 'hart'",
                at=at,
                remedy=remove("devices", name, "hart"),
            )
        elif described.model.interrupts.controller == "fast":
            place = local_of(described.model).start, cpu.hart
            other = seen.setdefault(place, name)
            if cpu.hart and other != name:
                draft.faults.add(
                    "E263",
                    f"'{other}' and '{name}' are both hart {cpu.hart}: they would wait by one"
                    " comparator",
                    at=at,
                    other=note(draft.where.at("devices", other, "hart"), f"'{other}' is it here"),
                    remedy=put(("devices", name, "hart"), _free_hart(draft)),
                )


def _free_hart(draft: Draft) -> int:
    taken = {cpu.hart for _, cpu in draft.cpus()}
    return next(hart for hart in range(len(taken) + 1) if hart not in taken)


def check_all_signals(draft: Draft) -> None:
    """Note signals of which a core cannot tell whose they are, or that undo each other."""
    writers: dict[int, set[str]] = {}
    sent: dict[Steps, str] = {}
    for key, sender, steps, hears in _signals(draft):
        for step in steps if sender else ():
            if step.write is not None:
                writers.setdefault(step.write, set()).add(sender)
        if key[-2:] == ("core", "send") and (other := sent.setdefault(steps, hears)) != hears:
            draft.faults.add(
                "E254",
                f"the host makes the same steps to interrupt '{other}' and '{hears}'",
                at=draft.where.at(*key),
                other=note(
                    draft.where.at("devices", other, "signals", "core", "send"), "here, too"
                ),
                remedy=remove(*key[:-1]) + ", or correct the register",
            )
    for key, sender, steps, hears in _signals(draft):
        if key[-1] == "send" and not any(step.write is not None for step in steps):
            draft.faults.add(
                "E254",
                f"the signal of '{sender}' writes no register",
                at=draft.where.at(*key),
                remedy=remove(*key[:-1]) + ", or write one",
            )
        for number, step in enumerate(steps):
            masked = step.write is not None and step.mask is not None
            others = writers.get(address_of(step), set()) - {sender} if masked else ()
            if others:
                draft.faults.add(
                    "E254",
                    f"'{sender}' changes bits of the register at {address_of(step):#x}, which"
                    f" '{min(others)}' may write between its read and its write",
                    at=draft.where.at(*key, str(number), "mask"),
                    remedy=remove(*key, str(number), "mask")
                    + ", or name registers that set and clear bits",
                )
        _check_msip(draft, key, steps, hears)


def _check_msip(draft: Draft, key: Key, steps: Steps, hears: str) -> None:
    """Note a software interrupt that is raised or cleared at the register of another hart."""
    signal, cpu = draft.soc.devices[key[1]], draft.soc.devices.get(hears)
    assert isinstance(signal, Cpu)
    end = getattr(signal.signals, key[-2])
    described = draft.description.cores.get(hears)
    if end.line != SOFTWARE or described is None or not isinstance(cpu, Cpu):
        return
    local = local_of(described.model).start
    for number, step in enumerate(steps):
        offset = address_of(step) - local
        if offset in _SOFTWARE_INTERRUPTS and offset != 4 * cpu.hart:
            place = (*key, str(number), "write" if step.write is not None else "wait")
            draft.faults.add(
                "E263",
                f"the register at {address_of(step):#x} has the software interrupt of hart"
                f" {offset // 4}, and '{hears}' is hart {cpu.hart}",
                at=draft.where.at(*place),
                remedy=put(place, f"{local + 4 * cpu.hart:#x}") + ", or correct 'hart'",
            )


def _signals(draft: Draft) -> Iterator[Sequence]:
    for name, cpu in draft.cpus():
        if draft.knows("devices", name, "signals"):
            yield from signal_sequences(name, cpu, draft.host or "")


def signal_sequences(name: str, cpu: Cpu, host: str) -> Iterator[Sequence]:
    """Yield the sequences by which a core and its host signal each other."""
    for end, sender, hears in (("core", host, name), ("host", name, host)):
        if signal := getattr(cpu.signals, end, None):
            key = ("devices", name, "signals", end)
            yield (*key, "send"), sender, signal.send, hears
            yield (*key, "clear"), hears, signal.clear, hears
