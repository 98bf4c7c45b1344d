# SPDX-License-Identifier: Apache-2.0
"""Memories and registers that a device sees at another address than the bus has them at.

A byte has one address on the bus, which the plan, the firewalls and all reports use. A device with
a view of a memory sees the memory's first byte at the view, and nothing at the address on the bus.
So does a core with a view of a register block. An alias of a memory shows devices bytes that they
see in the memory too; a region is touched at one of the two.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from atoll.isa.instruction_set import Family
from atoll.resolve.register_steps import ENTRY, VECTORS, Interrupt, RegisterStep
from atoll.resolve.soc import Alias, Cpu, Device, Engine, Memory, Placed, Region, ResolvedSoc

_Part = TypeVar("_Part", bound=Placed)

STEP = 4096
"""How far a view lies from the bus's address is a multiple of so many bytes.

A burst that may cross no such border crosses none on either side, and every alignment holds.
"""


def device_address(soc: ResolvedSoc, device: str, address: int) -> int:
    """Return where `device` sees a byte of the bus; what has no view, where the bus has it.

    A byte of a region that devices touch at an alias is there.
    """
    for alias in soc.aliases:
        at = address - alias.byte
        if 0 <= at < alias.size and _is_touched_at(soc, alias, address):
            return at + alias.device_range(device).start
    for part in soc.address_blocks():
        if part.origin <= address < part.end:
            return address - part.origin + part.device_range(device).start
    return address


def on_bus(soc: ResolvedSoc, device: str, address: int) -> int:
    """Return which byte of the bus `device` sees at an address; where it sees none, the address."""
    for part in soc.address_blocks():
        if device in part.views and address in part.device_range(device):
            return address - part.views[device] + part.origin
    for alias in soc.aliases:
        if device in alias.devices and address in alias.device_range(device):
            return address - alias.device_range(device).start + alias.byte
    return address


def addresses_of(soc: ResolvedSoc, device: str, span: range) -> Iterator[range]:
    """Yield all addresses at which `device` sees bytes of the bus, whatever it touches there."""
    if not any(part.origin < span.stop and span.start < part.end for part in soc.address_blocks()):
        yield span
    for part in soc.address_blocks():
        if shown := range(max(span.start, part.origin), min(span.stop, part.end)):
            yield _shift(shown, part.device_range(device).start - part.origin)
    for alias in soc.aliases:
        shown = range(max(span.start, alias.byte), min(span.stop, alias.byte + alias.size))
        if shown and device in alias.devices and not shows_memory(soc, alias, device):
            yield _shift(shown, alias.device_range(device).start - alias.byte)


def _shift(span: range, by: int) -> range:
    return range(span.start + by, span.stop + by)


def _is_touched_at(soc: ResolvedSoc, alias: Alias, address: int) -> bool:
    regions = (each for each in soc.regions() if each.name in alias.regions)
    return any(each.origin <= address < each.end for each in regions)


def as_seen_by(soc: ResolvedSoc, device: str) -> ResolvedSoc:
    """Return a chip with all memories, regions and registers where `device` sees them.

    All other devices see each of them where they did. An alias that it sees is a memory of the
    result. It is the same chip if `device` has no view, and the chip no alias.
    """
    if not soc.aliases and not any(device in part.views for part in soc.address_blocks()):
        return soc
    shifts = {
        memory.name: memory.device_range(device).start - memory.origin for memory in soc.memories
    }
    aliases = {each.name: each for each in soc.aliases if not shows_memory(soc, each, device)}

    def move(region: Region) -> Region:
        alias = soc.alias_for(region)
        if alias is None or alias.name not in aliases:
            return replace(region, origin=region.origin + shifts[region.memory])
        origin = region.origin - alias.byte + alias.device_range(device).start
        return replace(region, origin=origin, memory=alias.name)

    def of_device(each: Device) -> Device:
        if isinstance(each, Engine):
            return replace(each, registers=_move(soc, each.registers, device))
        if not isinstance(each, Cpu):
            return each
        return replace(
            each,
            code=move(each.code),
            load=move(each.load) if each.load else None,
            data=move(each.data),
            stack=move(each.stack),
            threads=tuple(map(move, each.threads)),
            mailbox=_move(soc, each.mailbox, device) if each.mailbox else None,
            shared_mailbox=move(each.shared_mailbox) if each.shared_mailbox else None,
        )

    memories = (*soc.memories, *(_memory_of(soc, each) for each in aliases.values()))
    seen = (_move(soc, memory, device) for memory in memories)
    return replace(
        soc,
        aliases=(),
        memories=tuple(sorted(seen, key=lambda it: it.origin) if aliases else seen),
        pools=tuple(replace(pool, region=move(pool.region)) for pool in soc.pools),
        devices=tuple(map(of_device, soc.devices)),
    )


def core_as_it_sees(soc: ResolvedSoc, core: Cpu) -> Cpu:
    """Return a core with its regions where it sees them itself."""
    found = as_seen_by(soc, core.name).device(core.name)
    assert isinstance(found, Cpu)
    return found


def steps_by(soc: ResolvedSoc, core: Cpu) -> Iterator[RegisterStep]:
    """Yield the steps that a core makes: on data caches, for signals, to let others begin."""
    if found := soc.cache_steps(core):
        yield from (*found.clean, *found.invalidate)
    if core.name == soc.host:
        yield from (step for each in soc.cpus for step in each.release)
        for npu in soc.cached_npus:
            if steps := npu.cache and npu.cache.maintenance:
                yield from (*steps.clean, *steps.invalidate)
    for sent, heard in signals_of(soc, core):
        yield from (*(sent.send if sent else ()), *(heard.clear if heard else ()))


def signals_of(soc: ResolvedSoc, core: Cpu) -> Iterator[tuple[Interrupt | None, Interrupt | None]]:
    """Yield, for each mailbox of a core, the interrupt that it sends and the one that it gets."""
    for each in soc.cpus if core.name == soc.host else (core,):
        if each.signals:
            both = each.signals.core, each.signals.host
            yield both if core.name == soc.host else both[::-1]


def begin_of(soc: ResolvedSoc, core: Cpu) -> Mapping[str, int]:
    """Return what the names of its `release` stand for: where a core begins, as it sees that."""
    seen = core_as_it_sees(soc, core)
    thumb = core.instructions.family is Family.THUMB
    return {ENTRY: seen.reset_address | thumb, VECTORS: seen.boot.origin}


def shows_memory(soc: ResolvedSoc, alias: Alias, device: str) -> bool:
    """Tell whether a device sees an alias where it sees the memory."""
    memory = soc.memory(alias.memory)
    return (
        alias.device_range(device).start - alias.byte
        == memory.device_range(device).start - memory.origin
    )


def _memory_of(soc: ResolvedSoc, alias: Alias) -> Memory:
    real = soc.memory(alias.memory)
    return replace(
        real,
        name=alias.name,
        origin=alias.origin,
        size=alias.size,
        views=alias.views,
        cached=alias.cached,
        at=alias.at,
    )


def _move(soc: ResolvedSoc, part: _Part, device: str) -> _Part:
    origin = part.device_range(device).start
    others = {each.name: part.device_range(each.name).start for each in soc.devices}
    views = {name: seen for name, seen in sorted(others.items()) if seen != origin}
    return replace(part, origin=origin, views=views)
