# SPDX-License-Identifier: Apache-2.0
"""The clock of a core beside that of the host, which counts the chip's time."""

from collections.abc import Callable, Mapping

from atoll.records import dataclass
from atoll_sim.engines.interface import Device
from atoll_sim.iss.riscv import Lines


@dataclass(frozen=True, slots=True)
class CoreClock:
    """How cycles of a core become cycles of the host, and back.

    Attributes:
        own, host: hertz.
    """

    own: int
    host: int

    def to_host(self, cycles: int) -> int:
        """Return in which cycle of the host `cycles` of the core are over."""
        return cycles * self.host // self.own

    def from_host(self, cycles: int) -> int:
        """Return the core's first cycle that is not before `cycles` of the host."""
        return -(-cycles * self.own // self.host)

    def lines(self, lines: Lines) -> Mapping[int, int]:
        """Return lines that rise in cycles of the host with the cycles of the core."""
        return {line: self.from_host(at) for line, at in lines().items()}


class OwnClock:
    """Registers that a core has to itself, which count its cycles."""

    def __init__(self, device: Device, time: Callable[[], int]) -> None:
        self._device = device
        self._time = time

    def read(self, offset: int, core: str, now: int) -> int:
        """See `Device`."""
        return self._device.read(offset, core, self._time())

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `Device`."""
        self._device.write(offset, value, core, self._time())
