# SPDX-License-Identifier: Apache-2.0
"""What a chip must keep so that the simulator can build it."""

from collections import Counter
from collections.abc import Iterator, Mapping

from atoll.description.faults import nearest
from atoll.description.fields import ADDRESS_SPACE
from atoll.diagnostics.errors import Fault, SimulationError, SourceLoc
from atoll.diagnostics.units import format_size
from atoll.isa.function_unit import FunctionUnit
from atoll.resolve.soc import AcceleratorSpec, Cpu, Engine, Memory, ResolvedSoc
from atoll_sim.chip.ports import ANY, INTERFACE_PORTS, UNIT_PORTS, may_lack, port_groups, ports_of
from atoll_sim.chip.rtl_cores import OTHER_CORES, core_faults, package_faults
from atoll_sim.chip.software import has_rtl
from atoll_sim.chip.sources import macro_faults, source_faults

LARGEST = 256 * 2**20
"""Bytes of a memory: each has a place of its own in the model, and a value from the start."""

SLOWEST = 64
"""How many cycles of the host one of an engine may take: 16 of them answer an access to a register,
and the bus waits for 1,024 of the host's (`atoll_demux`)."""


def check_cores(soc: ResolvedSoc, instead: tuple[str, str] = OTHER_CORES) -> None:
    """Refuse a chip with cores whose RTL is not there; `instead` as `core_faults` takes it.

    Raises:
        SimulationError: E080.
    """
    faults = [fault for cpu in soc.cpus for fault in core_faults(cpu, instead)]
    for cpu in soc.cpus:
        if cpu.unit:
            faults += port_faults(cpu.unit, "function unit", cpu.at)
    unbuilt: list[tuple[Cpu | Engine, str, str]] = [
        (cpu, "signals", "signals")
        for cpu in soc.remote_cpus
        if cpu.signals and cpu.spec.rtl_module and not has_rtl(soc, cpu.signals)
    ]
    unbuilt += [(npu, "cache.maintenance", "cache") for npu in soc.cached_npus]
    faults += (
        Fault(
            code="E259",
            message=f"device '{device.name}': no RTL has the registers of its '{key}'",
            at=device.at,
            remedy="use --cpu iss"
            if instead is OTHER_CORES
            else f"leave '{out}' out of the description for RTL",
        )
        for device, key, out in unbuilt
    )
    if faults:
        raise SimulationError.all(faults)


def check_engines(soc: ResolvedSoc, stand_ins: frozenset[str]) -> None:
    """Refuse a chip with accelerators whose RTL is not there, unless models stand in for them.

    Raises:
        SimulationError: E080.
    """
    built = (engine for engine in soc.engines if engine.name not in stand_ins)
    if faults := [fault for engine in built for fault in _engine_faults(engine)]:
        raise SimulationError.all(faults)


def check_memories(soc: ResolvedSoc) -> None:
    """Refuse a chip with memories that are too large for RTL, or past 4 GiB.

    Raises:
        SimulationError: E253.
    """
    faults = [
        Fault(
            code="E253",
            message=f"memory '{memory.name}' has {format_size(memory.size)}, and RTL simulates at"
            f" most {format_size(LARGEST)} of one",
            at=memory.at,
            remedy="describe the part that firmware and networks use, or use an instruction-set"
            " simulator",
        )
        for memory in soc.memories
        if memory.size > LARGEST
    ]
    if faults:
        raise SimulationError.all(faults)
    check_addresses(soc)


def check_addresses(soc: ResolvedSoc) -> None:
    """Refuse a chip with memories that RTL would have past 4 GiB, on the bus or in a view.

    Raises:
        SimulationError: E253.
    """
    faults = [
        Fault(
            code="E253",
            message=f"memory '{memory.name}' is at {last:#x}, and RTL has 32-bit addresses",
            at=memory.at,
            remedy="run networks with --cpu iss or --cpu native",
        )
        for memory in soc.memories
        for last in (max((memory.origin, *memory.views.values())),)
        if last >= ADDRESS_SPACE
        or any(v + memory.size > ADDRESS_SPACE for v in memory.views.values())
    ]
    if faults:
        raise SimulationError.all(faults)


def _engine_faults(engine: Engine) -> Iterator[Fault]:
    if not engine.spec.rtl_module:
        yield Fault(
            code="E080",
            message=f"device '{engine.name}': accelerator '{engine.spec.name}' has no RTL",
            at=engine.at,
            remedy="write 'rtl' into its YAML; without it, 'atoll run' has its model stand in",
        )
    yield from package_faults(engine)
    if engine.spec.rtl_module:
        yield from port_faults(engine.spec, "accelerator", engine.at)


def port_faults(
    spec: AcceleratorSpec | FunctionUnit, kind: str, place: SourceLoc | None
) -> Iterator[Fault]:
    """Yield a fault for each port that a description names wrongly."""
    if isinstance(spec, AcceleratorSpec):
        known: Mapping[str, bool] = ports_of(spec)
    else:
        known = INTERFACE_PORTS if spec.rtl_interface else UNIT_PORTS
    for port, name in spec.rtl_ports.items():
        at = spec.places.get(f"rtl.ports.{port}") or place
        if port.endswith(ANY):
            yield from _pattern_faults(spec, kind, port, name or "null", at)
        elif port not in known:
            what = f"{kind} '{spec.name}' has no port '{port}' to name"
            yield Fault(code="E147", message=what, at=at, remedy=nearest(port, known))
        elif name and "{" in name:
            what = f"'{port}' is one port of {kind} '{spec.name}', and '{name}' a pattern"
            yield Fault(code="E147", message=what, at=at, remedy="write the name of the port")
        elif name is None and not may_lack(port, known):
            what = f"{kind} '{spec.name}' cannot be without '{port}': nothing stands in for it"
            yield Fault(code="E147", message=what, at=at, remedy="name the module's port")
        elif name and name.startswith("!") and not known[port]:
            what = f"'{port}' comes out of {kind} '{spec.name}': nothing inverts it"
            remedy = f"write '{port}: {name[1:]}'"
            yield Fault(code="E147", message=what, at=at, remedy=remedy)


def _pattern_faults(
    spec: AcceleratorSpec | FunctionUnit, kind: str, port: str, name: str, place: SourceLoc | None
) -> Iterator[Fault]:
    groups = [
        f"{prefix}{ANY}"
        for prefix in (port_groups(spec) if isinstance(spec, AcceleratorSpec) else ())
    ]
    if port not in groups:
        what = f"{kind} '{spec.name}' has no ports '{port}' to name"
        yield Fault(code="E147", message=what, at=place, remedy=nearest(port, groups))
    elif "{signal}" not in name.lower() or name.startswith("!"):
        what = f"'{port}' stands for many ports of {kind} '{spec.name}', and '{name}' for one"
        remedy = f"write {{signal}}, or in capitals {{SIGNAL}}, in the place of {ANY}"
        yield Fault(code="E147", message=what, at=place, remedy=remedy)


def platform_faults(soc: ResolvedSoc, data_bytes: int) -> list[Fault]:
    """Return all reasons why the simulator cannot build what is around the cores of `soc`.

    Args:
        soc: the chip.
        data_bytes: bytes of a bus beat.
    """
    return [
        *(fault for memory in soc.memories for fault in _memory_faults(memory, data_bytes)),
        *_clock_faults(soc),
        *_line_faults(soc),
        *source_faults(soc),
        *macro_faults(soc),
    ]


def _memory_faults(memory: Memory, data_bytes: int) -> list[Fault]:
    word = min(memory.width, data_bytes)
    row = max(word * memory.banks, data_bytes)
    regular = _is_power(memory.width) and _is_power(memory.banks)
    checks = (
        (_is_power(memory.width), f"'width' {memory.width} is not a power of two", "width"),
        (_is_power(memory.banks), f"'banks' {memory.banks} is not a power of two", "banks"),
        (
            not regular or memory.size % row == 0,
            f"its size of {format_size(memory.size)} is not a multiple of {row} bytes",
            "size",
        ),
        (
            memory.origin % data_bytes == 0,
            f"its origin {memory.origin:#010x} is not a multiple of {data_bytes} bytes",
            "origin",
        ),
    )
    return [
        Fault(
            code="E081",
            message=f"memory '{memory.name}' cannot be simulated: {reason}",
            at=memory.at,
            remedy=f"change '{key}' of the memory",
        )
        for good, reason, key in checks
        if not good
    ]


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _clock_faults(soc: ResolvedSoc) -> list[Fault]:
    return [
        Fault(
            code="E082",
            message=f"engine '{engine.name}' runs at {engine.clock} Hz, less than 1/{SLOWEST} of"
            f" the host's {soc.host_cpu.clock} Hz: accesses to its registers would time out",
            at=engine.at,
            remedy=f"set its 'clock' to at least {-(-soc.host_cpu.clock // SLOWEST)}",
        )
        for engine in soc.engines
        if engine.clock * SLOWEST < soc.host_cpu.clock
    ]


def _line_faults(soc: ResolvedSoc) -> list[Fault]:
    lines = soc.host_cpu.spec.lines
    users = Counter(soc.irqs.values())
    return [
        Fault(
            code="E083",
            message=f"device '{name}' cannot use interrupt line {line} of"
            f" '{soc.host}': {'it is shared' if line in lines else 'the core has no such line'}",
            at=soc.device(name).at,
            remedy=f"set 'irq' to a line from {lines.start} to {lines.stop - 1} of its own",
        )
        for name, line in soc.irqs.items()
        if line not in lines or users[line] > 1
    ]
