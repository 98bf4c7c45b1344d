# SPDX-License-Identifier: Apache-2.0
"""What an operator takes on a device, waited for at once, in cycles of the host."""

from dataclasses import field

from atoll.cost.bands import (
    Band,
    Parts,
    Pessimistic,
    Source,
    joint_band,
    pessimistic,
)
from atoll.cost.basis import MEASURED, driver_source, source_of_operator, with_band
from atoll.cost.core_costs import CoreCost
from atoll.cost.engines import EngineCost, busy_cycles
from atoll.cost.spent import DeviceCost
from atoll.ir.graph import Graph, Operator
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, Device, Engine, ResolvedSoc
from atoll.utils.remember import Alike


@dataclass(frozen=True, slots=True)
class Cost:
    """What choosing a device costs.

    Attributes:
        cycles: computing.
        copying: moving tensors from and to neighbours with which it shares no pool.
        basis: what both rest on.
        parts: of what known source their cycles are.
    """

    cycles: int
    copying: int
    basis: str = MEASURED
    parts: Parts = field(default_factory=dict)

    @property
    def band(self) -> Band | None:
        """How far both together may be off, None if that is not known."""
        return joint_band(self.parts)

    @property
    def pessimistic(self) -> Pessimistic:
        """The most that both together may take."""
        return pessimistic(self.total, self.parts)

    @property
    def total(self) -> int:
        """Both together."""
        return self.cycles + self.copying

    def __str__(self) -> str:
        copies = f" and {self.copying:,} for copies" if self.copying else ""
        return with_band(f"about {self.cycles:,} cycles{copies}", self.basis, self.band)

    def as_json(self) -> dict[str, object]:
        """Return the figures by name."""
        band = self.band
        return {
            "cycles": self.cycles,
            "copy_cycles": self.copying,
            "basis": self.basis,
            "band": band.as_json() if band else None,
        }


def cost_on(device: Device, soc: ResolvedSoc) -> DeviceCost:
    """Return what knows the cost of operators on `device`, the same each time."""
    key = Alike(("cost", device.name), device)
    if key not in soc.known:
        assert isinstance(device, Engine | Cpu)
        made = EngineCost(device, soc) if isinstance(device, Engine) else CoreCost(device, soc)
        soc.known[key] = made
    found: DeviceCost = soc.known[key]
    return found


def compute_cycles(
    op: Operator, graph: Graph, device: Device, soc: ResolvedSoc, commands: int = 0
) -> int:
    """Predict the cycles of the host from begin to end of `op` on `device`; see `DeviceCost`."""
    return cost_on(device, soc).cycles(op, graph, commands)


def split_cycles(op: Operator, graph: Graph, device: Device, soc: ResolvedSoc) -> tuple[int, int]:
    """Return what an engine takes of `compute_cycles`, and what a core does: that of its driver."""
    cycles = compute_cycles(op, graph, device, soc)
    own = busy_cycles(op, graph, device, soc) if isinstance(device, Engine) else 0
    return min(own, cycles), max(0, cycles - own)


@dataclass(frozen=True, slots=True)
class Recorder:
    """Predicts as `compute_cycles`, and adds up of which source the cycles are."""

    sources: dict[Source, int] = field(default_factory=dict)

    def __call__(self, op: Operator, graph: Graph, device: Device, soc: ResolvedSoc) -> int:
        """Predict the cycles of an operator on a device."""
        cycles = compute_cycles(op, graph, device, soc)
        for source, each in cost_parts(op, graph, device, soc, cycles).items():
            self.sources[source] = self.sources.get(source, 0) + each
        return cycles


def cost_parts(op: Operator, graph: Graph, device: Device, soc: ResolvedSoc, cycles: int) -> Parts:
    """Return of which source the cycles of an operator on a device are, waited for at once."""
    own = busy_cycles(op, graph, device, soc) if isinstance(device, Engine) else cycles
    return parts_of(op, graph, device, soc, cycles, own)


def parts_of(
    op: Operator,
    graph: Graph,
    device: Device,
    soc: ResolvedSoc,
    cycles: int,
    own: int,
    lines: str = "",
) -> Parts:
    """Return the same where it is known what a device itself takes; a driver is the host's.

    On `lines` of a data cache see `source_of_operator`.
    """
    assert isinstance(device, Cpu | Engine)
    own = min(own, cycles)
    found = {source_of_operator(op, graph, device, soc, lines): own}
    if cycles > own:
        host = driver_source(soc)
        found[host] = found.get(host, 0) + cycles - own
    return found
