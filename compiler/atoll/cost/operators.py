# SPDX-License-Identifier: Apache-2.0
"""What an operator takes on a device, waited for at once, in cycles of the host."""

from dataclasses import dataclass

from atoll.cost.basis import MEASURED, with_basis
from atoll.cost.core_costs import CoreCost
from atoll.cost.engines import EngineCost, busy_cycles
from atoll.cost.spent import DeviceCost
from atoll.ir.graph import Graph, Operator
from atoll.resolve.soc import Cpu, Device, Engine, ResolvedSoc
from atoll.utils.remember import Alike


@dataclass(frozen=True, slots=True)
class Cost:
    """What choosing a device costs.

    Attributes:
        cycles: computing.
        copying: moving tensors from and to neighbours with which it shares no pool.
        basis: what both rest on.
    """

    cycles: int
    copying: int
    basis: str = MEASURED

    @property
    def total(self) -> int:
        """Both together."""
        return self.cycles + self.copying

    def __str__(self) -> str:
        copies = f" and {self.copying:,} for copies" if self.copying else ""
        return with_basis(f"about {self.cycles:,} cycles{copies}", self.basis)


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


def shared_cycles(op: Operator, graph: Graph, device: Device, soc: ResolvedSoc) -> tuple[int, int]:
    """Return what an engine takes of `compute_cycles`, and what a core does: that of its driver."""
    cycles = compute_cycles(op, graph, device, soc)
    own = busy_cycles(op, graph, device, soc) if isinstance(device, Engine) else 0
    return min(own, cycles), max(0, cycles - own)
