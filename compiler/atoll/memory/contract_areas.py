"""The part of a contract that every program on a chip shares: code, data, stacks, registers."""

from collections.abc import Iterator
from dataclasses import dataclass

from atoll.resolve.soc import Cpu, Region, RegionKind, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Addresses that belong to one core for good.

    Attributes:
        name: of the region, such as ``cpu.stack``; ``<device>.registers`` or ``console``.
        kind: ``code``, ``data``, ``stack``, or ``registers``.
        device: the core; for registers the host, which alone reaches them.
        limit: bytes of a stack, counted from its end, that one run may use; else all.
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
        for region in (cpu.code, cpu.data, *cpu.stacks):
            yield _area(cpu, region)
    blocks = {f"{engine.name}.registers": engine.registers for engine in soc.engines}
    for name, block in {**blocks, "console": soc.console}.items():
        yield Area(
            name=name,
            kind="registers",
            device=soc.host,
            address=block.origin,
            size=block.size,
            limit=block.size,
        )


def _area(cpu: Cpu, region: Region) -> Area:
    limit = cpu.max_stack_size.value if region.kind is RegionKind.STACK else region.size
    return Area(
        name=region.name,
        kind=str(region.kind),
        device=cpu.name,
        address=region.origin,
        size=region.size,
        limit=min(limit, region.size),
    )
