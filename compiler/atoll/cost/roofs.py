# SPDX-License-Identifier: Apache-2.0
"""What devices and memories do at most in a cycle: nothing that runs on them is faster."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from atoll.cost.copies import speed_of
from atoll.program.expressions import parse, value_of
from atoll.records import dataclass
from atoll.resolve.soc import Engine, ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRoof:
    """The most that a device multiplies.

    Attributes:
        macs_per_cycle: of its clock; None if no description says so.
        clock_hz: hertz.
    """

    device: str
    macs_per_cycle: int | None
    clock_hz: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRoof:
    """The most that the port of a memory moves, to or from its fastest pool."""

    memory: str
    bytes_per_cycle: int
    clock_hz: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofs:
    """Those of the devices and memories that a network uses."""

    devices: tuple[DeviceRoof, ...]
    memories: tuple[MemoryRoof, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "devices": [asdict(each) for each in self.devices],
            "memories": [asdict(each) for each in self.memories],
        }


def roofs_of(soc: ResolvedSoc, devices: Iterable[str], memories: Iterable[str]) -> Roofs:
    """Return the roofs of some devices and memories of a chip."""
    return Roofs(
        devices=tuple(_device_roof(soc, name) for name in dict.fromkeys(devices)),
        memories=tuple(_memory_roofs(soc, set(memories))),
    )


def _device_roof(soc: ResolvedSoc, name: str) -> DeviceRoof:
    device = soc.device(name)
    told = None
    if isinstance(device, Engine) and device.spec.macs_per_cycle:
        told = value_of(parse(device.spec.macs_per_cycle), device.params)
    return DeviceRoof(device=name, macs_per_cycle=told, clock_hz=device.clock)


def _memory_roofs(soc: ResolvedSoc, names: set[str]) -> Iterator[MemoryRoof]:
    for name in (each.name for each in soc.memories if each.name in names):
        speeds = [speed_of(pool, soc) for pool in soc.pools if pool.region.memory == name]
        rates = [(max(each.read_bandwidth, each.write_bandwidth), each.clock) for each in speeds]
        rates = rates or [(soc.memory(name).width, soc.host_cpu.clock)]
        rate, clock = max(rates, key=lambda each: each[0] * each[1])
        yield MemoryRoof(memory=name, bytes_per_cycle=rate, clock_hz=clock)
