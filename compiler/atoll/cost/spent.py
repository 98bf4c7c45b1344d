# SPDX-License-Identifier: Apache-2.0
"""What an operator takes, and why."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator
from atoll.records import dataclass
from atoll.resolve.soc import Device, ResolvedSoc

FEWEST: Mapping[str, int] = MappingProxyType({})
USUAL_POOLS: Mapping[str, str] = MappingProxyType({})

HostEnds = tuple[bool, bool]
"""Whether the host starts an operator, and whether it hears of its end; if not, its engine comes to
it, or goes on, by itself.
"""

BOTH_ENDS: HostEnds = True, True
NO_LISTS: Mapping[str, HostEnds] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What an operator takes on its device, waited for at once, and why so much.

    Attributes:
        cycles: of the host, from its begin event to its end event.
        bound: what decides.
        busy: what its engine does, in cycles of that; None on a core.
    """

    cycles: int
    bound: Bound
    busy: Busy | None = None


class DeviceCost(Protocol):
    """What operators take on a device of some kind."""

    def cycles(self, op: Operator, graph: Graph, commands: int = 0) -> int:
        """Predict the cycles of the host from begin to end of `op`, waited for at once.

        `commands` is how many commands an engine takes for it, 0 for as few as possible.
        """

    def predict(
        self, op: Operator, graph: Graph, commands: int = 0, ends: HostEnds = BOTH_ENDS
    ) -> Spent:
        """Predict as `cycles`, by who starts and ends it, and say what decides."""


def of_host(cycles: int, device: Device, soc: ResolvedSoc) -> int:
    """Return cycles of a device in cycles of the host."""
    return -(-cycles * soc.host_cpu.clock // device.clock)
