# SPDX-License-Identifier: Apache-2.0
"""The part of a contract that every program on a chip shares: code, data, stacks, registers."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.records import dataclass
from atoll.resolve.mailbox import SIDE
from atoll.resolve.soc import Cpu, Region, Registers, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Addresses that belong to one core for good.

    Attributes:
        name: of the region, such as ``cpu.stack``; ``<device>.registers``, ``<core>.mailbox`` or
            ``console``.
        kind: ``code``, ``load``, ``data``, ``stack``, or ``registers``; of a mailbox in memory
            ``outbox`` for the side that writes, ``inbox`` for the other one.
        device: the core; for registers the host, but a mailbox has a port at its core as well.
        limit: bytes of the stack that models run on, counted from its end, that one run may use;
            else all.
    """

    name: str
    kind: str
    device: str
    address: int
    size: int
    limit: int


def areas_of(soc: ResolvedSoc) -> tuple[Area, ...]:
    """Return what belongs to the cores of a chip, whatever runs on it."""
    return tuple(_areas(soc))


def _areas(soc: ResolvedSoc) -> Iterator[Area]:
    for cpu in soc.cpus:
        for region in (*cpu.code_regions, cpu.data, *cpu.stacks):
            yield _area(cpu, region)
    for cpu in soc.cpus:
        if cpu.mailbox:
            yield _registers(f"{cpu.name}.mailbox", soc.host, cpu.mailbox)
            yield _registers(f"{cpu.name}.mailbox", cpu.name, cpu.mailbox)
        if cpu.shared_mailbox:
            yield from _sides(soc.host_cpu, cpu, cpu.shared_mailbox)
    for engine in soc.engines:
        yield _registers(f"{engine.name}.registers", soc.host, engine.registers)
    yield _registers("console", soc.host, soc.console)


def _sides(host: Cpu, core: Cpu, box: Region) -> Iterator[Area]:
    """Yield the sides of a mailbox in memory: the host's, then the core's, each twice."""
    for number, (writer, reader) in enumerate(((host, core), (core, host))):
        half = replace(box, origin=box.origin + number * SIDE, size=SIDE)
        yield replace(_area(writer, half), kind="outbox")
        yield replace(_area(reader, half), kind="inbox")


def _area(cpu: Cpu, region: Region) -> Area:
    limit = cpu.max_stack_size.value if region == cpu.run_stack else region.size
    return Area(
        name=region.name,
        kind=str(region.kind),
        device=cpu.name,
        address=region.origin,
        size=region.size,
        limit=min(limit, region.size),
    )


def _registers(name: str, device: str, block: Registers) -> Area:
    return Area(
        name=name,
        kind="registers",
        device=device,
        address=block.origin,
        size=block.size,
        limit=block.size,
    )
