# SPDX-License-Identifier: Apache-2.0
"""Where a chip has bytes: memories, regions and pools. Plain data, no rules.

Addresses are the bus's (of a chip `as_seen_by` a device: the device's), sizes bytes.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from atoll.description.fields import ADDRESS_SPACE
from atoll.diagnostics.errors import SourceLoc
from atoll.records import dataclass
from atoll.resolve.marks import SPEED, TOLD
from atoll.resolve.pool_speed import PoolSpeed
from atoll.resolve.specs import Area, MemoryEnergy


class Access(StrEnum):
    """What a device may do with the bytes of a region."""

    NONE = "none"
    READ = "ro"
    WRITE = "rw"


class RegionKind(StrEnum):
    """What a span of a memory is for."""

    CODE = "code"
    LOAD = "load"
    DATA = "data"
    STACK = "stack"
    MAILBOX = "mailbox"
    POOL = "pool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A span of the bus that devices may see elsewhere.

    Attributes:
        views: where devices see the first byte that do not see it at `origin`, by device.
    """

    origin: int
    size: int
    views: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def end(self) -> int:
        """First address past it."""
        return self.origin + self.size

    @property
    def low(self) -> range:
        """What lies below 4 GiB: all regions, and all that simulators have of it."""
        return range(min(self.origin, ADDRESS_SPACE), min(self.end, ADDRESS_SPACE))

    def device_range(self, device: str) -> range:
        """Return the addresses at which `device` sees it."""
        origin = self.views.get(device, self.origin)
        return range(origin, origin + self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPools:
    """The memory-pool file of ST Edge AI that goes with a chip.

    Attributes:
        device: whose pools it has.
        path: of the vendor's file.
    """

    device: str
    path: Path
    at: SourceLoc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VelaFile:
    """The configuration file of Vela that goes with a chip.

    Attributes:
        path: of the file.
        system_config, memory_mode: those of the file's that count.
    """

    path: Path
    system_config: str
    memory_mode: str
    at: SourceLoc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What keeps masters off parts of a memory.

    Attributes:
        granule: bytes; it tells nothing smaller apart.
        masters: the number by which it knows each device.
        areas: how many it can tell apart; 0 for as many as there are.
    """

    granule: int
    masters: Mapping[str, int] = field(hash=False)
    areas: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Placed):
    """One physical memory.

    Attributes:
        kind: ``rom`` or ``ram``.
        width: bytes moved per cycle.
        banks: word-interleaved banks that serve different masters in one cycle.
        read_latency: cycles from an accepted read to its data, at least 1.
        cached: cores with a data cache keep lines of it.
        sector: bytes of flash that are erased at once; 0 if debuggers do not program it.
        isolation: what keeps masters off parts of it; None without such a unit.
        energy: what its accesses take, and `area` what it takes of the chip; None if not said.
    """

    name: str
    kind: str
    width: int = field(metadata=SPEED)
    banks: int = field(metadata=SPEED)
    read_latency: int = field(metadata=SPEED)
    cached: bool = True
    sector: int = 0
    isolation: Isolation | None = None
    energy: MemoryEnergy | None = field(default=None, metadata=TOLD)
    area: Area | None = field(default=None, metadata=TOLD)
    at: SourceLoc | None = field(default=None, metadata=TOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias(Placed):
    """Other addresses of bytes of a memory; `origin` is where devices see them.

    The bytes are on the bus where the memory has them, and nowhere else.

    Attributes:
        memory: whose bytes they are.
        byte: the first of them, on the bus.
        cached: cores with a data cache keep lines of what they touch here.
        regions: names of the regions that devices touch here, and nowhere else.
        devices: that see it: the host, and those that may touch one of the regions.
    """

    name: str
    memory: str
    byte: int
    cached: bool = True
    regions: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    at: SourceLoc | None = None

    @property
    def shown(self) -> range:
        """The bytes that it shows, on the bus."""
        return range(self.byte, self.byte + self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A span of one memory with one purpose; regions of a memory never overlap.

    Attributes:
        name: the pool's name, or ``<device>.code``, ``<device>.load``, ``<device>.data``,
            ``<device>.stack``, ``<device>.<thread>.stack``.
    """

    name: str
    kind: RegionKind
    memory: str
    origin: int
    size: int

    @property
    def end(self) -> int:
        """First address past the region."""
        return self.origin + self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A window of one memory in which the planner may place buffers.

    Attributes:
        role: ``constants``, ``workspace``, ``both`` of them, or ``state``, which outlives a run.
        alignment: bytes; every buffer in the pool starts at a multiple of it.
        preference: the planner tries pools with smaller numbers first.
        reach: access of every device of the chip, by device name.
        provided: ``internal``, or ``application``: the application defines the bytes, and hands
            their address to the run function.
        section: of the application's that lies at the origin beside ``.atoll.pool.<pool>``.
        speed: None as if it were the memory's width without latency.
        heap: bytes at its end that the workspace allocator gives out; planners leave them alone.
    """

    name: str
    region: Region
    role: str
    alignment: int
    preference: int
    reach: Mapping[str, Access]
    provided: str = "internal"
    section: str | None = None
    speed: PoolSpeed | None = field(default=None, metadata=SPEED)
    heap: int = 0
    at: SourceLoc | None = field(default=None, metadata=TOLD)

    @property
    def holds_constants(self) -> bool:
        """Constants may lie in it."""
        return self.role in ("constants", "both")

    @property
    def heap_origin(self) -> int:
        """First byte of the heap: a multiple of 16, and the end of what is planned."""
        return (self.region.end - self.heap) & ~15 if self.heap else self.region.end

    @property
    def room(self) -> int:
        """Bytes in which buffers are planned."""
        return self.heap_origin - self.region.origin
