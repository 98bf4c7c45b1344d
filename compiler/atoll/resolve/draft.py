# SPDX-License-Identifier: Apache-2.0
"""A description under resolution, its parts in canonical order."""

from collections.abc import Iterator, Mapping
from functools import cached_property, partial

from atoll.description.accelerator_files import AcceleratorDescription
from atoll.description.chip import Memory, Pool, Soc
from atoll.description.devices import Cpu, Device, Dma, Engine, Master, Npu
from atoll.description.faults import Faults
from atoll.description.loader import Description
from atoll.description.tree import SourceMap
from atoll.records import dataclass
from atoll.utils.natural import natural

_KINDS = ("cpu", "dsp", "npu", "dma", "master")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What the rules read, and where they note what is wrong."""

    description: Description
    faults: Faults

    @property
    def soc(self) -> Soc:
        """The checked model of the YAML."""
        return self.description.soc

    @property
    def where(self) -> SourceMap:
        """The place of every key and value."""
        return self.description.where

    def knows(self, *key: str) -> bool:
        """Tell whether the value at `key` and all below it is as it was written."""
        gaps = self.description.gaps
        return not gaps.keys or gaps.knows(*key)

    def whole(self, table: str) -> bool:
        """Tell whether every entry of `devices`, `memories` or `pools` is at hand."""
        return self.description.gaps.whole(table)

    def knows_names(self, table: str) -> bool:
        """Tell whether the names of all devices, memories or pools are known."""
        lost = (gap for gap in self.description.gaps.keys if gap[:1] == (table,) and len(gap) <= 2)
        return all(len(gap) == 2 and self.where.is_set(*gap) for gap in lost)

    @property
    def host(self) -> str | None:
        """The explicit host, else the first core of kind ``cpu`` in canonical order.

        None if there is none, or if it cannot be known.
        """
        if not self.knows("host"):
            return None
        cpus = (name for name, core in self.cpus() if core.kind == "cpu")
        return self.soc.host or next(cpus, None)

    def devices(self) -> Iterator[tuple[str, Device]]:
        """Yield the devices by kind, then by natural name; not those of which nothing is known."""
        yield from self._devices

    @cached_property
    def _devices(self) -> tuple[tuple[str, Device], ...]:
        devices, has = self.soc.devices, self.description.gaps.has
        names = sorted(filter(partial(has, "devices"), devices), key=natural)
        kinds = {name: devices[name].kind for name in names}
        ordered = (name for kind in _KINDS for name in names if kinds[name] == kind)
        return tuple((name, devices[name]) for name in ordered)

    def cpus(self) -> Iterator[tuple[str, Cpu]]:
        """Yield the cores."""
        for name, device in self.devices():
            if isinstance(device, Cpu):
                yield name, device

    def aliases(self) -> Iterator[tuple[str, Memory, str]]:
        """Yield the memories that are other addresses of one, with its name."""
        for name, real in self._reals.items():
            yield name, self.soc.memories[name], real

    def real(self, memory: str) -> str:
        """Return the memory whose bytes `memory` names: itself, unless it is an alias."""
        return self._reals.get(memory, memory)

    @cached_property
    def _reals(self) -> Mapping[str, str]:
        memories = self.soc.memories
        named = {name: alias.real for name, alias in memories.items() if alias.real}
        return {
            name: real
            for name, real in named.items()
            if real != name and real in memories and memories[real].real is None
        }

    def device_views(self) -> Iterator[tuple[str, Mapping[str, int]]]:
        """Yield where cores see the registers or the mailbox of each device that may have some."""
        for name, device in self.devices():
            if not isinstance(device, Master):
                yield name, device.views

    def engines(self) -> Iterator[tuple[str, Engine, AcceleratorDescription]]:
        """Yield the accelerators and DMA engines with what they are instances of.

        Those whose description is broken are left out.
        """
        for name, device in self.devices():
            if isinstance(device, (Npu, Dma)) and name in self.description.accelerators:
                yield name, device, self.description.accelerators[name]

    def hands(self, device: str) -> str:
        """Return who moves a device's data: the host where it has no port to memory."""
        described = self.description.accelerators.get(device)
        fed = described is not None and not described.model.ports.data
        return self.host or device if fed else device

    def moves_data(self, device: str) -> bool:
        """Tell whether a device has a port to memory, as far as anybody can tell."""
        broken = isinstance(self.soc.devices[device], Npu) and (
            device not in self.description.accelerators
        )
        return not broken and self.hands(device) == device

    def may_run_program(self, device: str) -> bool:
        """Tell whether the host may run a device by a program, so that it needs no constants."""
        if device == self.host:
            return False
        described = self.description.accelerators.get(device)
        return described is None or described.model.program is not None

    def pools(self) -> Iterator[tuple[str, Pool]]:
        """Yield the pools by preference, then by natural name; not those without any knowledge."""
        yield from self._pools

    @cached_property
    def _pools(self) -> tuple[tuple[str, Pool], ...]:
        pools, has = self.soc.pools, self.description.gaps.has
        known = [name for name in pools if has("pools", name)]
        ordered = sorted(known, key=lambda name: (pools[name].preference, natural(name)))
        return tuple((name, pools[name]) for name in ordered)
