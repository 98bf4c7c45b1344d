"""Estimate what an operator costs on a device, in cycles of the host."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from atoll import plugins
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.place.candidates import homes_of
from atoll.place.core_cycles import core_cycles
from atoll.resolve.soc import Access, Device, Engine, ResolvedSoc

DRIVER_CYCLES = 400
"""What the host takes to have an engine start, measured in RTL."""


class CostModel(Protocol):
    """The part of an accelerator's emitter that placement asks."""

    def estimate_cycles(self, op: Operator, graph: Graph, npu: Engine) -> int:
        """Predict the cycles that `npu` is busy with `op`."""
        ...


@dataclass(frozen=True, slots=True)
class Cost:
    """What choosing a device costs.

    Attributes:
        cycles: computing.
        copying: moving tensors from and to neighbours with which it shares no pool.
    """

    cycles: int
    copying: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.cycles + self.copying

    def __str__(self) -> str:
        copies = f" and {self.copying} for copies" if self.copying else ""
        return f"about {self.cycles} cycles{copies}"


def compute_cycles(op: Operator, graph: Graph, device: Device, soc: ResolvedSoc) -> int:
    """Predict the time that `device` takes for `op`, in cycles of the host."""
    if isinstance(device, Engine):
        model: CostModel = plugins.load(device.spec.emitter)()
        cycles, driver = model.estimate_cycles(op, graph, device), DRIVER_CYCLES
    else:
        cycles, driver = core_cycles(op, graph), 0
    return driver - (-cycles * soc.device(soc.host).clock // device.clock)


def cycles_of(graph: Graph, soc: ResolvedSoc) -> Mapping[str, int]:
    """Predict the cycles of every operator of a placed graph on its device, by name."""
    return {
        op.name: compute_cycles(op, graph, soc.device(op.device), soc) for op in graph.operators
    }


def copy_cycles(tensor: Tensor, writer: str, reader: str, soc: ResolvedSoc) -> int:
    """Predict the time to move `tensor` between two devices: none over a pool that they share.

    Otherwise every byte leaves one memory and enters another, each as wide as described.
    """
    if homes_of(soc, _needs(writer, reader), tensor):
        return 0
    ends = (homes_of(soc, {name: need}, tensor) for name, need in _needs(writer, reader).items())
    return sum(-(-tensor.size // _width(pools[0], soc)) for pools in ends if pools)


def _needs(writer: str, reader: str) -> dict[str, Access]:
    return {reader: Access.READ} | {writer: Access.WRITE}


def _width(pool: str, soc: ResolvedSoc) -> int:
    return soc.memory(soc.pool(pool).region.memory).width
