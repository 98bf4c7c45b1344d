# SPDX-License-Identifier: Apache-2.0
"""Software interrupts of RISC-V cores in RTL: which of a chip's signals they are."""

from collections.abc import Iterator

from atoll.resolve.memory_views import signals_of
from atoll.resolve.register_steps import SOFTWARE_LINE, WORD, Interrupt, Signals, register_spans
from atoll.resolve.soc import Cpu, Device, ResolvedSoc
from atoll_sim.chip.chip_parts import SoftwareInterrupts

MSIP = "msip"
"""Signals of their registers."""

_HARTS = range(1024)
"""Those whose words are in 4 KiB."""


def knows_harts(cpu: Cpu) -> bool:
    """Tell whether the adapter of a core has the comparator and software interrupt of its hart."""
    return "hart" in cpu.spec.rtl_parameters.values()


def has_rtl(soc: ResolvedSoc, signals: Signals) -> bool:
    """Tell whether RTL has all registers of a core's signals."""
    ends = [end for end in (signals.core, signals.host) if end]
    return not signals.event and all(_is_built(soc, end) for end in ends)


def _is_built(soc: ResolvedSoc, end: Interrupt) -> bool:
    """Tell whether an interrupt is one by the word of the core's hart, and by nothing else.

    All cores have their own registers at one place.
    """
    core = _core(soc, end.core)
    if end.line != SOFTWARE_LINE or not knows_harts(core) or core.hart not in _HARTS:
        return False
    word = (core.spec.local or 0) + WORD * core.hart
    steps = (*end.send, *end.clear)
    return core.spec.local == soc.host_cpu.spec.local and {each.address for each in steps} == {word}


def software_interrupts(soc: ResolvedSoc) -> SoftwareInterrupts | None:
    """Return the registers by which cores interrupt each other; None if RTL needs none."""
    heard = {end.core for cpu in soc.cpus for end in _ends(soc, cpu)}
    if not heard:
        return None
    harts = {cpu.name: cpu.hart for cpu in soc.cpus if cpu.name in heard}
    first = soc.host_cpu.spec.local or 0
    return SoftwareInterrupts(
        span=range(first, first + WORD * (max(harts.values()) + 1)),
        ports=tuple(cpu.name for cpu in soc.cpus if msip_spans(soc, cpu)),
        harts=harts,
    )


def _ends(soc: ResolvedSoc, cpu: Cpu) -> Iterator[Interrupt]:
    if cpu.signals and has_rtl(soc, cpu.signals):
        yield from (end for end in (cpu.signals.core, cpu.signals.host) if end)


def msip_spans(soc: ResolvedSoc, device: Device) -> tuple[range, ...]:
    """Return the words of software interrupts that a core accesses, joined where they adjoin."""
    if not isinstance(device, Cpu):
        return ()
    built = {end for cpu in soc.cpus for end in _ends(soc, cpu)}
    ends = tuple(signals_of(soc, device))
    steps = [step for sent, _ in ends if sent in built for step in sent.send]
    steps += (step for _, heard in ends if heard in built for step in heard.clear)
    return register_spans(steps)


def _core(soc: ResolvedSoc, name: str) -> Cpu:
    found = soc.device(name)
    assert isinstance(found, Cpu)
    return found
