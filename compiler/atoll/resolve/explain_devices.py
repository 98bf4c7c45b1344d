# SPDX-License-Identifier: Apache-2.0
"""Tables of what resolution derived for devices: cores, their stacks and protection, engines."""

from collections.abc import Iterator

from atoll.isa.code_target import OWN
from atoll.resolve.protection.table import table_of
from atoll.resolve.register_steps import Signals, line_name
from atoll.resolve.se_scope import target_of
from atoll.resolve.soc import Cpu, Device, Engine, Master, ResolvedSoc
from atoll.resolve.tables import Cell, Quantity, Table, address, clock


def devices(soc: ResolvedSoc) -> Table:
    """Return every device with its identity and what it is."""
    return Table(
        key="devices",
        title=f"Devices of {soc.name}",
        columns=("device", "kind", "type", "id", "ordinal", "clock", "loader", "is", "note"),
        keys=("device", "kind", "type", "id", "ordinal", "clock_hz", "loader", "is", "note"),
        rows=tuple(
            (
                device.name,
                device.kind,
                device.device_type,
                device.device_id,
                device.ordinal,
                clock(device.clock),
                device.loader,
                _essence(device),
                ", ".join(_roles(soc, device)),
            )
            for device in soc.devices
        ),
    )


def _essence(device: Device) -> str:
    match device:
        case Cpu():
            tools = "own commands" if device.commands else device.toolchain
            names = ", ".join(each.name for each in device.targets)
            targets = f" (targets {names})" if names else ""
            world = f", {device.world.replace('_', '-')}" if device.world else ""
            what = f"{device.spec.name} {device.isa}{targets}, {tools}{world}"
            if device.shared_mailbox:
                told = _signal_names(device.signals)
                return f"{what}, mailbox in {device.shared_mailbox.memory}{told}"
            box = device.mailbox
            return f"{what}, mailbox at {box.origin:#010x}, irq {device.irq}" if box else what
        case Engine():
            line = "" if device.irq is None else f", irq {device.irq}"
            return f"{device.spec.name} at {device.registers.origin:#010x}{line}"
        case Master():
            return "bus master that is not programmed"
        case _:
            raise AssertionError(device)


def _signal_names(signals: Signals | None) -> str:
    """Say what has both sides of a mailbox in memory look into it."""
    found = (signals.core, signals.host) if signals else ()
    lines = [f"{line_name(each.line)} of '{each.core}'" for each in found if each]
    told = ["events", *lines] if signals and signals.event else lines
    return f" with {' and '.join(told)}" if told else ""


def _roles(soc: ResolvedSoc, device: Device) -> Iterator[str]:
    if device.shown != device.name:
        yield f"shown as {device.shown}"
    if device.name == soc.host:
        yield "host"
    if device.name == soc.default_device:
        yield "default device"


def stacks(soc: ResolvedSoc) -> Table:
    """Return the stacks of every core, by thread."""
    rows: list[tuple[Cell, ...]] = []
    for cpu in soc.cpus:
        key = f"devices.{cpu.name}.stack"
        rows.append((cpu.name, "size", cpu.stack.size, soc.layers[f"{key}.size"]))
        interrupts = soc.layers[f"{key}.interrupts"]
        rows.append((cpu.name, "interrupts", cpu.interrupt_reserve, interrupts))
        for thread in cpu.threads:
            word = thread.name.split(".")[1]
            rows.append((cpu.name, thread.name, thread.size, soc.layers[f"{key}.threads.{word}"]))
        if cpu.run_thread:
            what, most = f"runs on {cpu.run_stack.name}", cpu.run_stack.size
            rows.append((cpu.name, what, most, soc.layers[f"{key}.runs"]))
        for each in cpu.thread_limits:
            place = f" on {cpu.stack_of(each.thread).name}" if cpu.threads else ""
            for name, limit in (
                ("max_stack_alloca_size", each.alloca),
                ("max_stack_size", each.total),
            ):
                rows.append((cpu.name, f"{name}{place}", limit.value, limit.layer))
    return Table(
        key="stacks",
        title="Stacks, in bytes",
        columns=("device", "limit", "bytes", "set by"),
        keys=("device", "limit", "size_bytes", "set_by"),
        rows=tuple(rows),
    )


def targets(soc: ResolvedSoc) -> Table:
    """Return what code of each core may be made for, its own code first."""
    return Table(
        key="targets",
        title="Targets of cores: what makes the code of operators, and by which convention",
        columns=("device", "target", "made by", "convention"),
        keys=("device", "target", "made_by", "abi"),
        rows=tuple(
            (
                cpu.name,
                name or OWN,
                str(target_of(cpu, name)),
                cpu.for_target(name).instructions.abi,
            )
            for cpu in soc.cpus
            if cpu.targets
            for name in ("", *(each.name for each in cpu.targets))
        ),
    )


def protection(soc: ResolvedSoc) -> Table:
    """Return the entries of every core's protection unit."""
    return Table(
        key="protection",
        title="Memory protection: what the unit of each core lets through, entry by entry",
        columns=("device", "unit", "entry", "from", "to", "access", "form", "what"),
        keys=(
            *("device", "unit", "entry", "first_address", "last_address", "access", "form"),
            "what",
        ),
        rows=tuple(
            (
                cpu.name,
                Quantity(unit.unit, f"{unit.unit}, {len(table)} of {unit.regions}"),
                number,
                address(entry.begin),
                address(max(entry.begin, entry.end - 1)),
                entry.access,
                entry.form,
                entry.what,
            )
            for cpu in soc.cpus
            if (unit := cpu.spec.protection) and (table := table_of(soc, cpu))
            for number, entry in enumerate(table)
        ),
    )


def accelerators(soc: ResolvedSoc) -> Table:
    """Return what each engine can do."""
    return Table(
        key="accelerators",
        title="Accelerators",
        columns=("device", "accelerator", "parameters", "runs"),
        rows=tuple(
            (
                npu.name,
                npu.spec.name,
                Quantity(
                    dict(npu.params),
                    ", ".join(f"{name} {value}" for name, value in npu.params.items()),
                ),
                Quantity(list(npu.runs), ", ".join(npu.runs)),
            )
            for npu in soc.engines
        ),
    )
