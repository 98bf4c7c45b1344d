# SPDX-License-Identifier: Apache-2.0
"""`NetworkEstimate`: what a network should take on a chip, and its machine-readable form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from atoll.cost.around import after_cycles, before_cycles
from atoll.cost.bands import Band, Parts, add_parts, joint_band
from atoll.cost.basis import (
    driver_source,
    joint_basis,
    stands_in,
    weakest,
)
from atoll.cost.data.picorv32 import MEASURED_CORE
from atoll.cost.energy import ChipArea, NetworkEnergy, Work, area_of, energy_of
from atoll.cost.program import ProgramCost
from atoll.cost.roofs import Roofs, roofs_of
from atoll.cost.traffic import Traffic, add_up, traffic_of
from atoll.diagnostics.units import nanoseconds
from atoll.ir.busy import Bound
from atoll.ir.graph import Graph
from atoll.isa.instruction_set import Vectors
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.resolve.soc import Cpu
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

GRAPHS_AT_HAND = 32
"""Placed graphs whose multiply-accumulates a process keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEstimate:
    """What one operator is expected to take, in cycles of the host.

    Attributes:
        devices: what runs it, and the further cores that make parts of it.
        begin: of its begin event, from that of the first operator.
        end: likewise of its end event.
        cycles: from begin to end if the host waits at once.
        basis: what the cycles rest on.
        sources: the cycles by their source.
        bound: what decides.
        macs: its multiply-accumulates.
        parts: what each part of its engine's work takes by itself, in cycles of the engine.
        traffic: by memory.
    """

    operator: str
    kind: str
    devices: tuple[str, ...]
    begin: int
    end: int
    cycles: int
    basis: str
    sources: Parts
    bound: Bound
    macs: int
    parts: Mapping[Bound, int] = field(default_factory=dict)
    traffic: tuple[Traffic, ...]

    @property
    def band(self) -> Band | None:
        """How far the cycles may be off, None if that is not known."""
        return joint_band(self.sources)

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "operator": self.operator,
            "kind": self.kind,
            "device": self.devices[0],
            "helpers": list(self.devices[1:]),
            "begin": self.begin,
            "end": self.end,
            "cycles": self.cycles,
            "basis": self.basis,
            "band": band_json(self.band),
            "bound": str(self.bound),
            "macs": self.macs,
            "parts": {str(part): cycles for part, cycles in self.parts.items()},
            "memories": [each.as_json() for each in self.traffic],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkEstimate:
    """What a run is expected to take, in cycles of the host.

    Attributes:
        before: from reset until the first operator begins.
        network: from then until the last one has ended, as the schedule has them.
        sequential: the same with one device at a time.
        waiting: of `network`, those in which devices wait for each other's accesses to memories.
        after: from then until the firmware's end.
        layers: in the order in which they begin.
        traffic: of all layers, by memory.
        roofs: of the devices that run layers, and of the memories that layers use.
        host_clock: hertz.
        basis: what all these cycles rest on.
        sources: the cycles of all layers, and what the host takes besides, by their source.
        energy: what the network takes; None if no part of the chip says what it takes.
        area: of the chip; likewise.
        notes: what a reader should know.
        model_sha256: of the network's file; "" if it is not told.
    """

    soc: str
    model: str
    before: int
    network: int
    sequential: int
    waiting: int
    after: int
    layers: tuple[LayerEstimate, ...]
    traffic: tuple[Traffic, ...]
    roofs: Roofs
    host_clock: int
    basis: str
    sources: Parts
    energy: NetworkEnergy | None = None
    area: ChipArea | None = None
    notes: tuple[str, ...] = ()
    model_sha256: str = ""

    @property
    def total(self) -> int:
        """From reset to exit, which is the total of `atoll run`."""
        return self.before + self.network + self.after

    @property
    def band(self) -> Band | None:
        """How far the total may be off, None if that is not known."""
        return joint_band(self.sources)

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "soc": self.soc,
            "model": self.model,
            "model_sha256": self.model_sha256,
            "cycles": {
                "total": self.total,
                "before": self.before,
                "network": self.network,
                "after": self.after,
                "sequential": self.sequential,
                "waiting": self.waiting,
                "basis": self.basis,
                "weakest": weakest(self.basis),
                "band": band_json(self.band),
                "clock_hz": self.host_clock,
                "total_ns": nanoseconds(self.total, self.host_clock),
                "by_layer": [layer.as_json() for layer in self.layers],
                "by_memory": [each.as_json() for each in self.traffic],
            },
            "roofs": self.roofs.as_json(),
            "energy": self.energy.as_json() if self.energy else None,
            "area": self.area.as_json() if self.area else None,
            "notes": list(self.notes),
        }


def band_json(band: Band | None) -> dict[str, float] | None:
    """Return a band for machines."""
    return band.as_json() if band else None


def estimates_of(models: Sequence[ProgramCost]) -> tuple[NetworkEstimate, ...]:
    """Return what each of the networks takes that share a firmware, if it runs as the first."""
    return tuple(_estimate(model, models) for model in models)


def _estimate(cost: ProgramCost, models: Sequence[ProgramCost]) -> NetworkEstimate:
    soc = cost.soc
    layers = tuple(_layers(cost))
    devices = [name for layer in layers for name in layer.devices]
    used = {soc.host, *devices}
    before, after = before_cycles(soc, models), after_cycles(soc) + cost.closing_cycles
    layer_cycles = sum(layer.cycles for layer in layers)
    between = max(0, cost.sequential - layer_cycles)
    around = {driver_source(soc): before + between + after}
    traffic = add_up((each for layer in layers for each in layer.traffic), soc)
    basis = joint_basis([driver_source(soc).basis, *(layer.basis for layer in layers)])
    works = {each.operator: Work(each.macs, each.traffic, each.basis) for each in layers}
    return NetworkEstimate(
        soc=soc.name,
        model=cost.graph.name,
        before=before,
        network=cost.length,
        sequential=cost.sequential,
        waiting=cost.waiting,
        after=after,
        layers=layers,
        traffic=traffic,
        roofs=roofs_of(soc, devices, (each.memory for each in traffic)),
        host_clock=soc.host_cpu.clock,
        basis=basis,
        sources=add_parts(around, cost.turns, *(layer.sources for layer in layers)),
        energy=energy_of(cost, works, basis),
        area=area_of(soc),
        notes=tuple(
            f"{core.name}: {core.spec.name} is not measured; it counts as"
            f" {MEASURED_CORE}{_without(core)}"
            for core in soc.cpus
            if core.name in used and stands_in(core)
        ),
    )


def _without(core: Cpu) -> str:
    """Return what the measured core has not, which makes the figures of `core` too large."""
    return ", without vectors" if core.instructions.vectors is Vectors.RVV else ""


def _graph_key(graph: Graph) -> Alike | None:
    count = len(graph.operators)
    return None if count > MOST_OPERATORS else Alike((graph.name, count), graph)


@remember(_graph_key, most=GRAPHS_AT_HAND)
def _macs_of(graph: Graph) -> Mapping[str, int]:
    """Return the multiply-accumulates of each operator, by name."""
    return {op.name: kind_of(op).features(op, graph)["macs"] for op in graph.operators}


def _layers(cost: ProgramCost) -> Iterator[LayerEstimate]:
    macs = _macs_of(cost.graph)
    for step, op, goes_on in cost.runs():
        each = cost.spent[op.name]
        yield LayerEstimate(
            operator=op.name,
            kind=op.kind,
            devices=op.devices,
            begin=cost.timeline.begins[op.name],
            end=cost.timeline.ends[op.name],
            cycles=each.cycles,
            basis=cost.basis_of(op),
            sources=cost.sources[op.name],
            bound=each.bound,
            macs=macs[op.name],
            parts=each.busy.parts if each.busy else {},
            traffic=traffic_of(cost, step, op, goes_on=goes_on),
        )
