# SPDX-License-Identifier: Apache-2.0
"""Devices: which core runs the show, what each can execute, how each is reached."""

from collections.abc import Mapping

from atoll.description.devices import Cpu, Dma, Master
from atoll.description.faults import note
from atoll.description.remedies import remove
from atoll.resolve.core_instances import check_core, lines_of
from atoll.resolve.draft import Draft
from atoll.resolve.function_units import check_unit
from atoll.resolve.mailboxes import check_mailbox
from atoll.resolve.npu_caches import check_npu_caches
from atoll.resolve.shared_caches import check_shared_caches
from atoll.resolve.signal_checks import check_all_signals, check_harts, free_line

DLPACK_CPU = 1
DLPACK_EXTENSION = 12
DEVICE_TYPES: Mapping[str, int] = {
    "cpu": DLPACK_CPU,
    "dsp": DLPACK_CPU,
    "npu": DLPACK_EXTENSION,
    "dma": DLPACK_EXTENSION,
    "master": DLPACK_EXTENSION,
}


def check_devices(draft: Draft) -> None:
    """Note hosts, cores and interrupts that cannot work."""
    _check_host(draft)
    _check_labels(draft)
    for name, cpu in draft.cpus():
        check_core(draft, name, cpu)
        check_unit(draft, name, cpu)
        check_mailbox(draft, name, cpu)
    check_shared_caches(draft)
    check_npu_caches(draft)
    check_harts(draft)
    check_all_signals(draft)
    _check_irqs(draft)
    _check_lines(draft)
    _check_default_device(draft)


def default_device(draft: Draft) -> str:
    """Return the explicit default device, else the only device, else the host."""
    names = list(draft.soc.devices)
    only = names[0] if len(names) == 1 else None
    chosen = draft.soc.default_device or only or draft.host
    assert chosen is not None, "check_devices found no host and nobody stopped"
    return chosen


def _check_host(draft: Draft) -> None:
    host, cores = draft.host, [name for name, _ in draft.cpus()]
    if host is None:
        if not (draft.whole("devices") and draft.knows("host")):
            return
        draft.faults.add(
            "E043",
            "the chip has no CPU, so nothing can start it",
            at=draft.where.key_at("devices"),
            remedy="add a device of 'kind: cpu'"
            + (f", or write 'host: {cores[0]}'" if cores else ""),
        )
    elif (
        host in draft.soc.devices
        and not isinstance(draft.soc.devices[host], Cpu)
        and draft.knows("devices", host, "kind")
    ):
        draft.faults.add(
            "E043",
            f"host '{host}' is not a CPU and cannot run scalar code",
            at=draft.where.at("host"),
            other=note(draft.where.at("devices", host, "kind"), "its kind is given here"),
            remedy=f"use one of {', '.join(cores)}" if cores else "add a device of 'kind: cpu'",
        )


def _check_labels(draft: Draft) -> None:
    owners: dict[str, str] = {}
    for name, device in draft.devices():
        label = device.label or name
        if (owner := owners.setdefault(label, name)) != name:
            key = name if device.label else owner
            draft.faults.add(
                "E215",
                f"devices '{owner}' and '{name}' would both be shown as '{label}'",
                at=draft.where.at("devices", key, "label"),
                other=note(
                    draft.where.key_at("devices", owner if key == name else name),
                    "the other one is described here",
                ),
                remedy=remove("devices", key, "label") | "write another one",
            )


def _check_default_device(draft: Draft) -> None:
    name = draft.soc.default_device or ""
    device = draft.soc.devices.get(name)
    keys = (("devices", name, "kind"), ("devices", name, "mailbox"), ("host",))
    if not all(draft.knows(*key) for key in keys):
        return
    if isinstance(device, Dma | Master):
        what = "DMA engine" if isinstance(device, Dma) else "bus master"
        draft.faults.add(
            "E046",
            f"default device '{name}' is a {what}, which runs no operators",
            at=draft.where.at("default_device"),
            other=note(draft.where.at("devices", name, "kind"), "its kind is given here"),
            remedy="name a core or an accelerator",
        )
    elif isinstance(device, Cpu) and device.mailbox is None and name != draft.host:
        draft.faults.add(
            "E046",
            f"default device '{name}' has no mailbox: the host cannot start operators on it",
            at=draft.where.at("default_device"),
            other=note(draft.where.key_at("devices", name), "the core is described here"),
            remedy="give it a 'mailbox', or name another device",
        )


def _check_lines(draft: Draft) -> None:
    """Note accelerators without the line that they raise, and lines that nobody raises."""
    for name, engine, spec in draft.engines():
        if not draft.knows("devices", name, "irq"):
            continue
        silent = spec.model.ports.interrupt == "none"
        if engine.irq is None and not silent:
            draft.faults.add(
                "E010",
                f"'devices.{name}' has no 'irq'",
                at=draft.where.key_at("devices", name),
                remedy=f"add 'irq: {free_line(draft)}'",
                keys=(("devices", name, "irq"),),
            )
        if engine.irq is not None and silent:
            draft.faults.add(
                "E044",
                f"'{name}' has an interrupt line, but '{spec.model.accelerator}' no interrupt",
                at=draft.where.at("devices", name, "irq"),
                remedy=f"remove 'devices.{name}.irq'",
                keys=(("devices", name, "irq"),),
            )


def _check_irqs(draft: Draft) -> None:
    core = draft.description.cores.get(draft.host or "")
    lines = lines_of(core.model.interrupts) if core else None
    owners: dict[int, str] = {}
    for name, device in draft.devices():
        if (
            isinstance(device, Master)
            or device.irq is None
            or not draft.knows("devices", name, "irq")
        ):
            continue
        at = draft.where.at("devices", name, "irq")
        if lines and device.irq not in lines:
            draft.faults.add(
                "E044",
                f"interrupt {device.irq} of '{name}' is no line for devices at host '{draft.host}'",
                at=at,
                remedy=f"use a line from {lines[0]} to {lines[-1]}",
            )
        if owner := owners.get(device.irq):
            draft.faults.add(
                "E044",
                f"'{owner}' and '{name}' both use interrupt {device.irq}",
                at=at,
                other=note(draft.where.at("devices", owner, "irq"), f"'{owner}' uses it here"),
                remedy="give one of them another line",
            )
        owners[device.irq] = name
