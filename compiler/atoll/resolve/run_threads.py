# SPDX-License-Identifier: Apache-2.0
"""The chip as one network finds it: its cores run the network on the threads that were chosen."""

from dataclasses import replace

from atoll.description.build import BuildRequests
from atoll.description.faults import nearest
from atoll.description.identifiers import identifier
from atoll.diagnostics.errors import Fault, PlacementError
from atoll.resolve.soc import Cpu, Device, ResolvedSoc

MAIN = "main"
"""What build options call the thread of the main stack, unless a thread has that name."""


def on_threads(soc: ResolvedSoc, asked: BuildRequests) -> ResolvedSoc:
    """Return a chip whose cores run a network where its build options say.

    Raises:
        PlacementError: E200; a core or a thread that is asked for is not there.
    """
    written = asked.model.threads
    if not written:
        return soc
    faults = [fault for core in written if (fault := _fault(soc, asked, core))]
    if faults:
        raise PlacementError.all(faults)
    chosen = {identifier(core): identifier(thread) for core, thread in written.items()}
    return replace(
        soc, devices=tuple(_on_thread(each, chosen.get(each.name)) for each in soc.devices)
    )


def _on_thread(device: Device, thread: str | None) -> Device:
    if thread is None or not isinstance(device, Cpu):
        return device
    return device.on_thread("" if thread == MAIN and MAIN not in _threads(device) else thread)


def _threads(core: Cpu) -> tuple[str, ...]:
    return tuple(each.thread for each in core.thread_limits if each.thread)


def _fault(soc: ResolvedSoc, asked: BuildRequests, core: str) -> Fault | None:
    cores = {each.name: each for each in soc.cpus}
    thread, where = identifier(asked.model.threads[core]), asked.where
    if identifier(core) not in cores:
        return Fault(
            code="E200",
            message=f"'threads' of the build options names '{core}', which is no core of the chip",
            at=where.key_at("threads", core),
            remedy=nearest(core, tuple(cores)),
        )
    known = (*_threads(cores[identifier(core)]), MAIN)
    if thread in known:
        return None
    return Fault(
        code="E200",
        message=f"the network cannot run on thread '{thread}' of '{core}', which has no stack",
        at=where.at("threads", core),
        remedy=nearest(
            thread, known, f"add it to devices.{identifier(core)}.stack.threads with a size"
        ),
    )
