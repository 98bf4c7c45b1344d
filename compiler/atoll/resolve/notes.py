# SPDX-License-Identifier: Apache-2.0
"""What is no fault of a chip, and yet perhaps not what was meant."""

from collections.abc import Iterator

from atoll.description.tree import BUILT_IN
from atoll.resolve.soc import Cpu, ResolvedSoc

SLOW = 10_000
"""Hertz below which a clock is more likely a number without its unit."""


def notes_of(soc: ResolvedSoc) -> tuple[str, ...]:
    """Return sentences for whoever described the chip."""
    return (
        *_unused_parts(soc),
        *_silent(soc),
        *_shared_registers(soc),
        *_slow(soc),
        *_clock_notes(soc),
    )


def _unused_parts(soc: ResolvedSoc) -> Iterator[str]:
    regions = [pool.region for pool in soc.pools]
    for core in soc.cpus:
        regions += (*core.code_regions, core.data, *core.stacks)
        regions += [core.shared_mailbox] if core.shared_mailbox else []
    used = {region.memory for region in regions}
    if idle := [f"'{each.name}'" for each in soc.memories if each.name not in used]:
        yield (
            f"nothing is planned or linked into {', '.join(idle)}: no pool and no region of a core "
            "names them as its memory"
        )


def _silent(soc: ResolvedSoc) -> Iterator[str]:
    for core in soc.cpus:
        if core.name != soc.host and not core.has_mailbox:
            yield (
                f"core '{core.name}' has no mailbox: it gets no image and runs no operators; "
                f"'mailbox: MEMORY' under 'devices.{core.name}' lets the host drive it"
            )


def _shared_registers(soc: ResolvedSoc) -> Iterator[str]:
    cores: dict[int, list[str]] = {}
    for core in soc.cpus:
        steps = soc.cache_steps(core)
        for address in (
            {each.address for each in (*steps.clean, *steps.invalidate)} if steps else ()
        ):
            cores.setdefault(address, []).append(f"'{core.name}'")
    for names in sorted({tuple(each) for each in cores.values() if len(each) > 1}):
        yield (
            f"the same registers maintain the data caches of {' and '.join(names)}: each of them "
            "must see registers of its own there, since nothing keeps them from maintaining at "
            "once; if they have one cache, let 'cache.shared' of each name it"
        )


def _slow(soc: ResolvedSoc) -> Iterator[str]:
    for device in soc.devices:
        if device.clock < SLOW:
            kind = "core" if isinstance(device, Cpu) else "device"
            yield (
                f"the clock of {kind} '{device.name}' is {device.clock} Hz; a number "
                f"without a unit is hertz: write 'clock: {device.clock} MHz', for example"
            )


def _clock_notes(soc: ResolvedSoc) -> Iterator[str]:
    host = soc.host_cpu
    for device in soc.devices:
        said = soc.layers.get(f"devices.{device.name}.clock")
        if said == BUILT_IN and device.clock != host.clock:
            yield (
                f"the clock of device '{device.name}' is not given: it counts as "
                f"{device.clock / 1e6:g} MHz, and that of the host is {host.clock / 1e6:g} MHz"
            )
