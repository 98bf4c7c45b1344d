"""A description under resolution, its parts in canonical order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from atoll.description.accelerators import AcceleratorDescription
from atoll.description.faults import Faults
from atoll.description.loader import Description
from atoll.description.schema import Cpu, Device, Dma, Engine, Npu, Pool, Soc
from atoll.description.tree import SourceMap

_KINDS = ("cpu", "dsp", "npu", "dma")


def natural(name: str) -> tuple[tuple[str | int, ...], str]:
    """Return a sort key under which ``npu2`` comes before ``npu10``."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(int(part) if part.isdigit() else part for part in parts), name


@dataclass(frozen=True, slots=True, kw_only=True)
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

    @property
    def host(self) -> str | None:
        """The explicit host, else the first core of kind ``cpu`` in canonical order."""
        cpus = (name for name, core in self.cpus() if core.kind == "cpu")
        return self.soc.host or next(cpus, None)

    def devices(self) -> Iterator[tuple[str, Device]]:
        """Yield the devices by kind, then by natural name."""
        for kind in _KINDS:
            for name in sorted(self.soc.devices, key=natural):
                if self.soc.devices[name].kind == kind:
                    yield name, self.soc.devices[name]

    def cpus(self) -> Iterator[tuple[str, Cpu]]:
        """Yield the cores."""
        for name, device in self.devices():
            if isinstance(device, Cpu):
                yield name, device

    def engines(self) -> Iterator[tuple[str, Engine, AcceleratorDescription]]:
        """Yield the accelerators and DMA engines with what they are instances of."""
        for name, device in self.devices():
            if isinstance(device, (Npu, Dma)):
                yield name, device, self.description.accelerators[name]

    def pools(self) -> Iterator[tuple[str, Pool]]:
        """Yield the pools by preference, then by natural name."""
        pools = self.soc.pools
        for name in sorted(pools, key=lambda name: (pools[name].preference, natural(name))):
            yield name, pools[name]
