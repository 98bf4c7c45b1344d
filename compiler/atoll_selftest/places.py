# SPDX-License-Identifier: Apache-2.0
"""The places of a chip that devices try to touch, and what each device may do there."""

from collections.abc import Iterator

from atoll.reach.candidates import WORKSPACE_ROLES
from atoll.records import dataclass
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Access, Device, Pool, Region, RegionKind, Registers, ResolvedSoc

WORD = 4
"""Bytes of an access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A pool, a core's region, or the registers of a device.

    Attributes:
        name: the pool's or region's name; ``<device>.registers``.
        origin: where the bus has it.
        size: bytes.
        pool: the pool that it is; None if it is none.
        read_alone: nobody is to write there, allowed or not: a write may start something.
        stack: a core has its stack there, and needs the words at its end.
    """

    name: str
    origin: int
    size: int
    pool: Pool | None = None
    read_alone: bool = False
    stack: bool = False

    @property
    def probe(self) -> int:
        """The address that cores try: the first word of registers and stacks, else the last one."""
        if self.read_alone or self.stack:
            return -(-self.origin // WORD) * WORD
        return (self.origin + self.size) // WORD * WORD - WORD


@dataclass(frozen=True, slots=True, kw_only=True)
class March:
    """Words of a pool whose bytes are nobody's before a network runs.

    Attributes:
        pool: which one.
        begin: address on the bus.
        end: first address past it.
    """

    pool: Pool
    begin: int
    end: int


def places(soc: ResolvedSoc) -> tuple[Place, ...]:
    """Return all places of a chip: pools, the cores' regions, the devices' registers."""
    pools = (
        Place(name=each.name, origin=each.region.origin, size=each.region.size, pool=each)
        for each in soc.pools
    )
    known = {pool.region.name for pool in soc.pools}
    regions = (
        Place(
            name=each.name,
            origin=each.origin,
            size=each.size,
            stack=each.kind is RegionKind.STACK,
        )
        for each in soc.regions()
        if each.name not in known
    )
    registers = (
        Place(name=f"{name}.registers", origin=block.origin, size=block.size, read_alone=True)
        for name, block in soc.register_blocks.items()
    )
    return tuple(each for each in (*pools, *regions, *registers) if each.size >= WORD)


def access_of(soc: ResolvedSoc, device: Device, place: Place) -> Access:
    """Return what `device` may do at a place."""
    for window, access in soc.windows(device):
        if _is(window, place):
            return access
    return Access.NONE


def _is(window: Region | Registers, place: Place) -> bool:
    return (window.origin, window.size) == (place.origin, place.size)


def marches(soc: ResolvedSoc, core: Device, taken: dict[str, int]) -> Iterator[March]:
    """Yield what a core marches over: each pool that it may write, behind the pool's constants.

    Args:
        soc: the chip.
        core: who reads and writes.
        taken: bytes at the start of pools that hold constants.
    """
    for pool in soc.pools:
        region = pool.region
        begin = -(-(region.origin + taken.get(pool.name, 0)) // WORD) * WORD
        end = region.end // WORD * WORD
        if (
            pool.role in WORKSPACE_ROLES
            and pool.reach[core.name] is Access.WRITE
            and soc.memory(region.memory).kind == "ram"
            and begin < end
        ):
            yield March(pool=pool, begin=begin, end=end)


def address_from(soc: ResolvedSoc, device: Device, address: int) -> int:
    """Return where `device` sees a byte of the bus."""
    return device_address(soc, device.name, address)
