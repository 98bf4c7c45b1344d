# SPDX-License-Identifier: Apache-2.0
"""Decide how a chip is simulated: which modules, on which bus, behind which firewall windows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from atoll.diagnostics.errors import SimulationError
from atoll.program.expressions import parse, value_of
from atoll.resolve.mailbox import LINE
from atoll.resolve.memory_views import core_as_it_sees, shows_memory
from atoll.resolve.soc import (
    Access,
    Cpu,
    Device,
    Engine,
    Memory,
    Placed,
    Registers,
    ResolvedSoc,
)
from atoll_sim.chip.checks import check_cores, check_memories, platform_faults
from atoll_sim.chip.chip_parts import (
    BuiltMemory,
    Chip,
    DataPort,
    Interrupt,
    Mailbox,
    Master,
    SoftwareInterrupts,
    Target,
)
from atoll_sim.chip.rtl_cores import parameters_of
from atoll_sim.chip.software import MSIP, msip_spans, software_interrupts

SMALL_MEMORY = 1 << 20
"""A memory is built with room for so many bytes at least."""


SOFTWARE = 1
"""The line of an adapter that is the core's software interrupt."""

NOBODY: frozenset[str] = frozenset()


def check_chip(soc: ResolvedSoc) -> None:
    """Refuse a chip that cannot be simulated whole, its cores in RTL.

    Raises:
        SimulationError: as `check_cores` and `plan_chip`.
    """
    check_cores(soc)
    check_memories(soc)
    plan_chip(soc)


def plan_chip(
    soc: ResolvedSoc, *, external_host: bool = False, stand_ins: frozenset[str] = NOBODY
) -> Chip:
    """Decide what is built for `soc`.

    Args:
        soc: the chip.
        external_host: leave all cores out; the test bench makes the host's accesses.
        stand_ins: accelerators in whose place software models are.

    Raises:
        SimulationError: the description asks for what the simulator cannot build.
    """
    data_bytes = max((8, *map(beat_bytes, soc.engines)))
    if faults := platform_faults(soc, data_bytes):
        raise SimulationError.all(faults)
    devices = tuple(device for device in soc.devices if isinstance(device, (Cpu, Engine)))
    software = software_interrupts(soc)
    blocks = {target.signal: target.span for target in _register_blocks(soc)}
    return Chip(
        soc=soc,
        data_bytes=data_bytes,
        masters=tuple(
            _master(soc, device, index, external_host, device.name in stand_ins, software)
            for index, device in enumerate(devices)
        ),
        memories=tuple(
            _memory(memory, [device.name for device in devices], data_bytes)
            for memory in soc.memories
        ),
        mailboxes=_mailboxes(soc),
        software=software,
        blocks=blocks | ({MSIP: software.span} if software else {}),
        slaves=(
            *(target.signal for target in _register_blocks(soc)),
            *(mailbox.core for mailbox in _mailboxes(soc)),
        ),
        lines={**_lines(soc), **_software_line(soc, software)},
        interrupts=tuple(interrupts_of(soc)),
        external_host=external_host,
        aliases={f"alias_{each.name}": each.shown for each in soc.aliases},
    )


def data_ports(npu: Engine) -> tuple[DataPort, ...]:
    """Return an accelerator's ports to memory."""
    return tuple(
        DataPort(
            name=port.name,
            protocol=port.protocol,
            bytes=value_of(parse(port.bytes), npu.params)
            if port.bytes
            else npu.params.get("data_bytes", 8),
        )
        for port in npu.spec.ports.data
    )


def beat_bytes(npu: Engine) -> int:
    """Return the bytes of the widest port of an accelerator to memory, 0 if it has none."""
    return max((port.bytes for port in data_ports(npu)), default=0)


def merge_spans(spans: Iterable[range]) -> tuple[range, ...]:
    """Join spans of addresses that touch or overlap; the result is in order."""
    merged: list[range] = []
    for span in sorted(spans, key=lambda span: (span.start, span.stop)):
        if merged and span.start <= merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(merged[-1].stop, span.stop))
        else:
            merged.append(span)
    assert all(low.stop < high.start for low, high in pairwise(merged))
    return tuple(merged)


def _spans(
    soc: ResolvedSoc, device: Device, *allowed: Access, more: Iterable[range] = ()
) -> tuple[range, ...]:
    windows = (
        range(window.origin, window.origin + window.size)
        for window, access in soc.windows(device)
        if access in allowed
    )
    return merge_spans((*windows, *more))


def _register_blocks(soc: ResolvedSoc) -> tuple[Target, ...]:
    """Return the register blocks at the host."""
    blocks = dict(soc.register_blocks)
    blocks["console"] = replace(soc.console, size=soc.console.size - soc.guard.size)
    blocks["guard"] = soc.guard
    return tuple(_block(f"reg_{name}", registers) for name, registers in blocks.items())


def _block(signal: str, registers: Registers) -> Target:
    return Target(signal=signal, index="", span=_span(registers))


def _span(block: Registers) -> range:
    return range(block.origin, block.origin + block.size)


def _mailboxes(soc: ResolvedSoc) -> tuple[Mailbox, ...]:
    return tuple(
        Mailbox(
            name=core.name,
            host=f"reg_{core.name}",
            core=f"box_{core.name}",
            line=LINE,
            holds=core.is_held,
        )
        for core in soc.cpus
        if core.mailbox
    )


def _lines(soc: ResolvedSoc) -> Mapping[int, str]:
    devices = {line: f"dev_{name}_irq" for name, line in soc.irqs.items()}
    return {soc.host_cpu.spec.bus_error_line: "guard_irq"} | devices


def _software_line(soc: ResolvedSoc, software: SoftwareInterrupts | None) -> Mapping[int, str]:
    return {SOFTWARE: f"dev_{soc.host}_ring"} if software and soc.host in software.harts else {}


def interrupts_of(soc: ResolvedSoc) -> Iterator[Interrupt]:
    """Yield the interrupt lines of a chip: those at the host, then those of mailboxes."""
    lines = {soc.host_cpu.spec.bus_error_line: "guard"}
    lines |= {line: name for name, line in soc.irqs.items()}
    signals = _lines(soc)
    for line, source in lines.items():
        yield Interrupt(source=source, core=soc.host, line=line, signal=signals[line])
    for box in _mailboxes(soc):
        ring = f"dev_{box.name}_ring"
        yield Interrupt(source=soc.host, core=box.name, line=box.line, signal=ring)
    for core in soc.remote_cpus:
        if core.signals and (heard := core.signals.core):
            ring = f"dev_{core.name}_ring"
            yield Interrupt(source=soc.host, core=core.name, line=heard.line, signal=ring)


def _registers(soc: ResolvedSoc, device: Device) -> tuple[Target, ...]:
    """Return the register blocks that a master reaches: the host all, a core its mailbox."""
    if device.name == soc.host:
        return _register_blocks(soc)
    return tuple(_block(f"box_{device.name}", each) for each in soc.registers_of(device))


def _msip_port(device: Device, software: SoftwareInterrupts | None) -> tuple[Target, ...]:
    if software is None or device.name not in software.ports:
        return ()
    port = software.ports.index(device.name)
    return (Target(signal=MSIP, index=f"[{port}]", span=software.span),)


def _master(
    soc: ResolvedSoc,
    device: Cpu | Engine,
    index: int,
    external_host: bool,
    stand_in: bool,
    software: SoftwareInterrupts | None,
) -> Master:
    words = msip_spans(soc, device) if software else ()
    readable = _spans(soc, device, Access.READ, Access.WRITE, more=words)
    targets = tuple(
        Target(
            signal=f"mem_{memory.name}",
            index=f"[{index}]",
            span=memory.low if _touches(readable, memory) else range(0),
        )
        for memory in soc.memories
    )
    core = device.spec if isinstance(device, Cpu) and not external_host else None
    built = core or isinstance(device, Engine)
    own_clock = built and device.clock != soc.host_cpu.clock
    return Master(
        name=device.name,
        signal=f"dev_{device.name}",
        index=index,
        readable=readable,
        writable=_spans(soc, device, Access.WRITE, more=words),
        targets=(*targets, *_registers(soc, device), *_msip_port(device, software)),
        views=tuple(_views(soc, device)) if built else (),
        core=core,
        npu=device if isinstance(device, Engine) else None,
        unit=device.unit if core and isinstance(device, Cpu) else None,
        parameters=_parameters(soc, device),
        ports=data_ports(device) if isinstance(device, Engine) else (),
        interrupts=_interrupts(soc, device, software),
        clock=f"clk_{device.name}" if own_clock and not stand_in else "",
        stand_in=stand_in,
        held=isinstance(device, Cpu) and device.is_held,
    )


def _views(soc: ResolvedSoc, device: Device) -> Iterator[Target]:
    """Yield where a master sees what it sees elsewhere than the bus has it."""
    placed: dict[str, Placed] = {f"mem_{memory.name}": memory for memory in soc.memories}
    placed |= {f"reg_{name}": block for name, block in soc.register_blocks.items()}
    for signal, part in placed.items():
        if device.name in part.views:
            yield Target(signal=signal, index="", span=part.device_range(device.name))
    for alias in soc.aliases:
        seen = alias.device_range(device.name)
        if device.name in alias.devices and not shows_memory(soc, alias, device.name):
            yield Target(signal=f"alias_{alias.name}", index="", span=seen, alias=True)


def _touches(spans: Iterable[range], memory: Memory) -> bool:
    return any(span.start < memory.end and memory.origin < span.stop for span in spans)


def _interrupts(soc: ResolvedSoc, device: Device, software: SoftwareInterrupts | None) -> str:
    if device.name == soc.host:
        return "irq"
    if software and device.name in software.harts:
        return f"32'(dev_{device.name}_ring) << {SOFTWARE}"
    mailbox = next((each for each in _mailboxes(soc) if each.name == device.name), None)
    return f"32'(dev_{device.name}_ring) << {mailbox.line}" if mailbox else "'0"


def _parameters(soc: ResolvedSoc, device: Cpu | Engine) -> Mapping[str, str]:
    if isinstance(device, Cpu):
        return parameters_of(core_as_it_sees(soc, device))
    if (told := device.spec.rtl_parameters) is not None:
        return {name: str(value_of(parse(text), device.params)) for name, text in told.items()}
    return {
        "".join(word.capitalize() for word in name.split("_")): str(value)
        for name, value in sorted(device.params.items())
    }


def _memory(memory: Memory, masters: Iterable[str], data_bytes: int) -> BuiltMemory:
    return BuiltMemory(
        name=memory.name,
        signal=f"mem_{memory.name}",
        span=memory.low,
        room=max(SMALL_MEMORY, 1 << (len(memory.low) - 1).bit_length()),
        word_bytes=min(memory.width, data_bytes),
        banks=memory.banks,
        read_latency=memory.read_latency,
        writable=memory.kind != "rom",
        ports=tuple(f"dev_{name}" for name in masters),
    )
