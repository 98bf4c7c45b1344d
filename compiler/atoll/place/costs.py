"""Estimate what an operator costs on a device, in cycles of the host."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.place.candidates import homes_of
from atoll.place.core_cycles import core_cycles
from atoll.resolve.engine_parts import emitter_of, whole
from atoll.resolve.soc import Access, Device, Engine, PoolSpeed, ResolvedSoc

DRIVER_CYCLES = 400
"""What the host takes to have an engine start, measured in RTL."""


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
        cycles, driver = engine_cycles(op, graph, device), DRIVER_CYCLES
    else:
        cycles, driver = core_cycles(op, graph), 0
    return driver - (-cycles * soc.device(soc.host).clock // device.clock)


def engine_cycles(op: Operator, graph: Graph, engine: Engine) -> int:
    """Return what the emitter of `engine` estimates for `op`, in cycles of the engine.

    Raises:
        AtollError: E041, E110 to E112; it cannot say.
    """
    emitter, about = emitter_of(engine), f"operator '{op.name}' ({op.kind.upper()})"
    found = emitter.call("estimate_cycles", op, graph, engine, about=about)
    if whole(found) < 0:
        raise emitter.wrong("estimate_cycles", f"{found!r:.80}, no number of cycles", about)
    return whole(found)


def cycles_of(graph: Graph, soc: ResolvedSoc) -> Mapping[str, int]:
    """Predict the cycles of every operator of a placed graph on its device, by name."""
    return {
        op.name: compute_cycles(op, graph, soc.device(op.device), soc) for op in graph.operators
    }


def copy_cycles(tensor: Tensor, writer: str, reader: str, soc: ResolvedSoc) -> int:
    """Predict the time to move `tensor` between two devices: none over a pool that they share.

    Otherwise it is read from the first pool of the one and written to the first of the other, at
    the speed that the description gives them (M1), in cycles of the host.
    """
    if homes_of(soc, {reader: Access.READ} | {writer: Access.WRITE}, tensor):
        return 0
    source = homes_of(soc, {writer: Access.WRITE}, tensor)[:1]
    target = homes_of(soc, {reader: Access.READ}, tensor)[:1]
    moves = [(speed, speed.read_cycles(tensor.size)) for speed in _speeds(source, soc)]
    moves += [(speed, speed.write_cycles(tensor.size)) for speed in _speeds(target, soc)]
    return sum(-(-cycles * soc.host_cpu.clock // speed.clock) for speed, cycles in moves)


def _speeds(pools: Iterable[str], soc: ResolvedSoc) -> Iterator[PoolSpeed]:
    for name in pools:
        pool = soc.pool(name)
        width, clock = soc.memory(pool.region.memory).width, soc.host_cpu.clock
        yield pool.speed or PoolSpeed(
            read_bandwidth=width, write_bandwidth=width, latency=0, burst=0, clock=clock
        )
