# SPDX-License-Identifier: Apache-2.0
"""`ResolvedSoc`: the one value that every later stage reads. Plain data, no rules.

Sequences are in canonical order (docs/description.md), never in the order of the YAML's keys.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import field
from functools import cached_property, wraps
from typing import Any, TypeVar

from atoll.description.loader import Description
from atoll.description.speeds import OtherSpeeds
from atoll.records import dataclass
from atoll.resolve.commands import Commands
from atoll.resolve.data_cache import Cache
from atoll.resolve.entities import (
    Cpu,
    Device,
    Dma,
    Engine,
    Master,
    Npu,
    PoolMemory,
    Registers,
    StackLimit,
    ThreadLimits,
    once_per_engine,
)
from atoll.resolve.marks import TOLD
from atoll.resolve.places import (
    Access,
    Alias,
    Memory,
    MemoryPools,
    Placed,
    Pool,
    Region,
    RegionKind,
    VelaFile,
)
from atoll.resolve.pool_speed import PoolSpeed
from atoll.resolve.register_steps import CacheSteps
from atoll.resolve.specs import AcceleratorSpec, CoreSpec, OperatorSupport
from atoll.utils.remember import Alike

__all__ = [
    "AcceleratorSpec",
    "Access",
    "Alias",
    "CInterface",
    "Cache",
    "Commands",
    "CoreSpec",
    "Cpu",
    "Device",
    "Dma",
    "Engine",
    "Master",
    "Memory",
    "MemoryPools",
    "Npu",
    "OperatorSupport",
    "Placed",
    "Pool",
    "PoolMemory",
    "PoolSpeed",
    "Region",
    "RegionKind",
    "Registers",
    "ResolvedSoc",
    "StackLimit",
    "ThreadLimits",
    "VelaFile",
    "once_per_chip",
    "once_per_device",
    "once_per_engine",
]


IN_A_FILE = re.compile(r".+:\d+:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CInterface:
    """How a compiled model meets the application.

    Attributes:
        map_inputs: the application writes the inputs where the plan put them.
        map_outputs: it reads the outputs there.
    """

    map_inputs: bool = False
    map_outputs: bool = False


@dataclass(frozen=True, kw_only=True)
class ResolvedSoc:
    """A whole chip, complete and consistent.

    Attributes:
        host: name of the core that runs the entry point and starts everything else.
        default_device: where operators go that nothing constrains.
        console: UART, exit, trace and request registers of the test bench (docs/platform.md).
        layers: where each resolved value came from, by dotted key.
        interface: of every model that is compiled for the chip.
        qemu_machine: the machine of QEMU that it is; "" if it is none.
        mpool: the memory-pool file of ST Edge AI that goes with it.
        vela: the configuration file of Vela that goes with it.
        aliases: other addresses of bytes of the memories, by origin.
        told: what the chip was resolved from; None if that is not at hand.
    """

    name: str
    devices: tuple[Device, ...]
    memories: tuple[Memory, ...]
    pools: tuple[Pool, ...]
    host: str
    default_device: str
    console: Registers
    layers: Mapping[str, str] = field(default_factory=dict, metadata=TOLD)
    interface: CInterface = CInterface()
    qemu_machine: str = ""
    mpool: MemoryPools | None = field(default=None, metadata=TOLD)
    vela: VelaFile | None = field(default=None, metadata=TOLD)
    aliases: tuple[Alias, ...] = ()
    told: Description | OtherSpeeds | None = field(
        default=None, compare=False, repr=False, metadata=TOLD
    )

    @property
    def source(self) -> Description | None:
        """What the chip was resolved from, for remedies; None if that is not at hand."""
        return self.told.description() if isinstance(self.told, OtherSpeeds) else self.told

    def first_setting(self, prefix: str) -> str:
        """Return the first place in a file that sets a key which begins with `prefix`.

        It is ``FILE:LINE:COLUMN``, and empty if no file sets such a key. Keys of a device come
        before those inside them, which the file of its accelerator may set.
        """
        found = (
            (key.count("."), *_line(at), at)
            for key, at in self.layers.items()
            if key.startswith(prefix) and IN_A_FILE.fullmatch(at)
        )
        return min(found, default=("",))[-1]

    def device(self, name: str) -> Device:
        """Look a device up by name."""
        return self._devices[name]

    def memory(self, name: str) -> Memory:
        """Look a memory up by name."""
        return self._memories[name]

    def pool(self, name: str) -> Pool:
        """Look a pool up by name."""
        return self._pools[name]

    @cached_property
    def _devices(self) -> Mapping[str, Device]:
        return {device.name: device for device in self.devices}

    @cached_property
    def _memories(self) -> Mapping[str, Memory]:
        return {memory.name: memory for memory in self.memories}

    @cached_property
    def _pools(self) -> Mapping[str, Pool]:
        return {pool.name: pool for pool in self.pools}

    @cached_property
    def known(self) -> dict[Hashable, Any]:
        """What was asked of the chip; who asks adds it."""
        return {}

    @cached_property
    def shape_sign(self) -> Hashable:
        """Part of what it is beside its speeds, to find it among others."""
        regions = tuple((pool.region.origin, pool.region.size) for pool in self.pools)
        return self.name, regions, tuple(tuple(each.params.items()) for each in self.engines)

    @cached_property
    def sign(self) -> Hashable:
        """Part of all that it is."""
        clocks = tuple(each.clock for each in self.devices)
        return self.shape_sign, clocks, tuple(each.read_latency for each in self.memories)

    @cached_property
    def preferred_pools(self) -> tuple[Pool, ...]:
        """The pools, those to try first in front."""
        return tuple(sorted(self.pools, key=lambda pool: pool.preference))

    @cached_property
    def host_cpu(self) -> Cpu:
        """The host as a core."""
        host = self.device(self.host)
        assert isinstance(host, Cpu)
        return host

    @cached_property
    def cpus(self) -> tuple[Cpu, ...]:
        """All cores."""
        return tuple(device for device in self.devices if isinstance(device, Cpu))

    @property
    def cached_cpus(self) -> tuple[Cpu, ...]:
        """The cores with a data cache, the host first."""
        cached = (cpu for cpu in self.cpus if cpu.cache)
        return tuple(sorted(cached, key=lambda cpu: (cpu.name != self.host, cpu.ordinal)))

    @property
    def cached_npus(self) -> tuple[Npu, ...]:
        """The accelerators with a data cache, which the host maintains."""
        return tuple(npu for npu in self.npus if npu.cache)

    @property
    def cached_devices(self) -> tuple[Cpu | Npu, ...]:
        """All devices with a data cache: cores, the host first, then accelerators."""
        return (*self.cached_cpus, *self.cached_npus)

    @cached_property
    def data_caches(self) -> tuple[tuple[Cpu, ...], ...]:
        """The cores that have each data cache, in the order of `cached_cpus`."""
        found: dict[tuple[str, str], list[Cpu]] = {}
        for cpu in self.cached_cpus:
            shared = cpu.cache.shared if cpu.cache else ""
            found.setdefault((shared, "" if shared else cpu.name), []).append(cpu)
        return tuple(map(tuple, found.values()))

    def sharing(self, device: str) -> frozenset[str]:
        """Return the devices that have the data cache of one, itself included; none without."""
        return self._sharing.get(device, frozenset())

    @cached_property
    def _sharing(self) -> Mapping[str, frozenset[str]]:
        names = [frozenset(cpu.name for cpu in cores) for cores in self.data_caches]
        names += [frozenset((npu.name,)) for npu in self.cached_npus]
        return {device: devices for devices in names for device in devices}

    def cache_steps(self, core: Cpu) -> CacheSteps | None:
        """Return how registers maintain the data cache of a core, if it is the one who does that.

        Where the host has the same cache it alone does, since two cores must not at once.
        """
        of_host = core.name != self.host and self.host in self.sharing(core.name)
        return None if core.cache is None or of_host else core.cache.maintenance

    def maintains_cache(self, core: Cpu) -> bool:
        """Return whether a core can clean and invalidate its data cache; False without one."""
        by_itself = core.cache is not None and core.cache.maintenance is None
        return by_itself or self.cache_steps(core) is not None

    def is_cached(self, pool: Pool) -> bool:
        """Return whether cores with a data cache keep bytes of a pool that may change."""
        return self.is_kept(pool.region) and self.memory(pool.region.memory).kind == "ram"

    def keeps(self, device: Cpu | Npu, pool: Pool) -> bool:
        """Return whether the data cache of a device keeps bytes of a pool that may change."""
        only = device.cache.memories if device.cache else ()
        return (
            device.cache is not None
            and pool.reach[device.name] is not Access.NONE
            and self.is_cached(pool)
            and (not only or pool.region.memory in only)
        )

    def is_kept(self, region: Region) -> bool:
        """Return whether cores with a data cache keep bytes of a region."""
        return (self.alias_for(region) or self.memory(region.memory)).cached

    def alias_for(self, region: Region) -> Alias | None:
        """Return the alias at which devices touch a region; None if where its memory is."""
        return next((each for each in self.aliases if region.name in each.regions), None)

    @cached_property
    def remote_cpus(self) -> tuple[Cpu, ...]:
        """The cores other than the host that run operators for it: each has a mailbox."""
        return tuple(cpu for cpu in self.cpus if cpu.name != self.host and cpu.has_mailbox)

    @cached_property
    def npus(self) -> tuple[Npu, ...]:
        """All accelerator instances."""
        return tuple(device for device in self.devices if isinstance(device, Npu))

    @cached_property
    def dmas(self) -> tuple[Dma, ...]:
        """All DMA engines."""
        return tuple(device for device in self.devices if isinstance(device, Dma))

    @cached_property
    def engines(self) -> tuple[Engine, ...]:
        """All devices that run lists of commands."""
        return tuple(device for device in self.devices if isinstance(device, Engine))

    @property
    def guard(self) -> Registers:
        """The upper half of the console's page: what the firewalls kept back."""
        half = self.console.size // 2
        return Registers(origin=self.console.origin + half, size=self.console.size - half)

    @property
    def irqs(self) -> Mapping[str, int]:
        """The interrupt line at the host of each device that has one, by the device's name."""
        cores = {core.name: core.irq for core in self.cpus if core.irq is not None}
        return cores | {each.name: each.irq for each in self.engines if each.irq is not None}

    def regions(self) -> Iterator[Region]:
        """Yield every region of the chip: pools, then the cores' code, data, stacks and mailbox."""
        yield from (pool.region for pool in self.pools)
        for cpu in self.cpus:
            yield from (*cpu.code_regions, cpu.data, *cpu.stacks)
            yield from (cpu.shared_mailbox,) if cpu.shared_mailbox else ()

    def windows(self, device: Device) -> Iterator[tuple[Region | Registers, Access]]:
        """Yield all that `device` may touch: what the firewall lets through, nothing more.

        Pools by reach; a core also its own code (read, or written if it copies it), data, stack and
        mailbox; the host also every register block and mailbox, and the code that it loads. A
        device without a port to memory touches nothing itself.
        """
        if isinstance(device, Engine) and device.spec.fed:
            return
        for pool in self.pools:
            if pool.reach[device.name] is not Access.NONE:
                yield pool.region, pool.reach[device.name]
        if isinstance(device, Cpu):
            if device.load:
                yield device.load, Access.READ
            yield device.code, Access.WRITE if device.load else Access.READ
            yield device.data, Access.WRITE
            yield from ((stack, Access.WRITE) for stack in device.stacks)
            yield from ((device.shared_mailbox, Access.WRITE),) if device.shared_mailbox else ()
        if device.name == self.host:
            yield from (
                (each.shared_mailbox, Access.WRITE) for each in self.cpus if each.shared_mailbox
            )
            yield from ((each.code, Access.WRITE) for each in self.cpus if each.is_held)
        yield from ((block, Access.WRITE) for block in self.registers_of(device))

    @property
    def register_blocks(self) -> Mapping[str, Registers]:
        """The mailbox of each core that has one, and each engine's registers, by device."""
        boxes = {core.name: core.mailbox for core in self.cpus if core.mailbox}
        return boxes | {engine.name: engine.registers for engine in self.engines}

    def address_blocks(self) -> Iterator[Placed]:
        """Yield all that devices may see elsewhere than the bus has it."""
        yield from self.memories
        yield from self.register_blocks.values()

    def registers_of(self, device: Device) -> Iterator[Registers]:
        """Yield the register blocks that `device` may touch: all for the host, else its mailbox."""
        if device.name == self.host:
            yield from self.register_blocks.values()
            yield self.console
        elif isinstance(device, Cpu) and device.mailbox:
            yield device.mailbox


def _line(at: str) -> tuple[str, int]:
    path, line, _ = at.rsplit(":", 2)
    return path, int(line)


Found = TypeVar("Found")
DeviceOf = TypeVar("DeviceOf", bound=Device)


def once_per_chip(function: Callable[[ResolvedSoc], Found]) -> Callable[[ResolvedSoc], Found]:
    """Decorate what follows from a chip alone: of each chip it is found once."""

    @wraps(function)
    def finding(soc: ResolvedSoc) -> Found:
        if function not in soc.known:
            soc.known[function] = function(soc)
        found: Found = soc.known[function]
        return found

    return finding


def once_per_device(
    function: Callable[[DeviceOf, ResolvedSoc], Found],
) -> Callable[[DeviceOf, ResolvedSoc], Found]:
    """Decorate what follows from a device and a chip alone: of each pair it is found once."""

    @wraps(function)
    def finding(device: DeviceOf, soc: ResolvedSoc) -> Found:
        key: Hashable = function, device.name
        if soc._devices.get(device.name) is not device:
            key = Alike(key, device)
        if key not in soc.known:
            soc.known[key] = function(device, soc)
        found: Found = soc.known[key]
        return found

    return finding
