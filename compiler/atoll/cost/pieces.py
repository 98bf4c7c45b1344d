# SPDX-License-Identifier: Apache-2.0
"""What operators of a network take whole and in pieces, and what copies of rows take."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from atoll.cost.copies import moving_cycles
from atoll.cost.data.assumed import CORE_PIECE_CYCLES, ENGINE_PIECE_CYCLES, LISTS_OF_COPY
from atoll.cost.data.picorv32 import FINISH_CYCLES, LEAST_CYCLES, START_CYCLES
from atoll.cost.engines import busy_at_hand, driver_cycles, goes_on_cycles
from atoll.cost.lists import joint_saving
from atoll.cost.operators import compute_cycles
from atoll.cost.spent import of_host
from atoll.ir.busy import Bound
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.records import dataclass
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.soc import Device, Engine, ResolvedSoc


@dataclass(frozen=True, slots=True)
class _Rate:
    """The least that a piece takes, what each takes, and what all pieces share."""

    least: int
    each: int
    working: int


@dataclass(frozen=True)
class PieceCosts:
    """What operators take whole, and in pieces, in cycles of the host.

    Attributes:
        network: before it is cut.
        soc: the chip.
        devices: of each operator.
    """

    network: Graph
    soc: ResolvedSoc
    devices: Mapping[str, str]

    @cached_property
    def whole(self) -> Mapping[str, int]:
        """What each operator takes as a whole, an engine going on by itself where it can."""
        return {
            op.name: compute_cycles(op, self.network, device, self.soc)
            - joint_saving(device, self.soc)
            for op, device in self._operators_on_devices()
        }

    def piece(self, name: str, share: float) -> int:
        """Return what a share of an operator takes."""
        rate = self._rates[name]
        return max(rate.least, rate.each + int(rate.working * share))

    @cached_property
    def _rates(self) -> Mapping[str, _Rate]:
        return {op.name: self._rate(op, device) for op, device in self._operators_on_devices()}

    def _rate(self, op: Operator, device: Device) -> _Rate:
        cycles = self.whole[op.name]
        if not isinstance(device, Engine):
            return _Rate(0, CORE_PIECE_CYCLES, cycles)
        if not links(emitter_of(device)):
            fixed = START_CYCLES + FINISH_CYCLES
            return _Rate(LEAST_CYCLES, fixed, max(0, cycles - fixed))
        fixed = goes_on_cycles(device, self.soc) + ENGINE_PIECE_CYCLES
        busy = busy_at_hand(op, self.network, device, 0)
        constants = of_host(busy.parts.get(Bound.WEIGHTS, 0), device, self.soc)
        return _Rate(0, fixed + constants, max(0, cycles - fixed))

    def _operators_on_devices(self) -> list[tuple[Operator, Device]]:
        return [(op, self.soc.device(self.devices[op.name])) for op in self.network.operators]


def row_copy_cycles(
    tensor: Tensor, pools: tuple[str, str], mover: Device, soc: ResolvedSoc
) -> tuple[int, int]:
    """Predict copies of rows of a tensor between two pools on a core or a DMA engine.

    Returns:
        Cycles of a copy beside its bytes, and of all rows.
    """
    held = replace(tensor, pools=pools[:1])
    copied = Tensor(name="copied", shape=tensor.shape, dtype=tensor.dtype, pools=pools[1:])
    moving = moving_cycles(held, copied, mover, soc)
    if not isinstance(mover, Engine):
        return CORE_PIECE_CYCLES, moving
    driving = sum(driver_cycles(soc)[:2])
    return LISTS_OF_COPY * driving, max(0, moving - driving)
