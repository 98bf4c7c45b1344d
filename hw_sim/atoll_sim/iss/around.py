# SPDX-License-Identifier: Apache-2.0
"""What a core tells the chip around it."""

from collections.abc import Mapping
from typing import Protocol

from atoll.resolve.register_steps import Interrupt
from atoll.resolve.soc import Cpu
from atoll_sim.iss.cache_control import CacheControl


class Around(Protocol):
    """Who hears of accesses that fail, and of events."""

    @property
    def npu_caches(self) -> Mapping[str, CacheControl]:
        """The data caches of accelerators, which the host maintains."""
        ...

    def note_failure(self, core: Cpu, address: int, *, writes: bool, bus: bool) -> None:
        """Note an access that was kept back, or that the bus failed."""
        ...

    def release(self, core: Cpu, at: int) -> None:
        """Let a core begin, at a time of the host."""
        ...

    def set_line(self, core: Cpu, line: Interrupt, at: int, *, high: bool) -> None:
        """Raise or lower the line of a signal, as a core does at a time of the host."""
        ...

    def send_event(self, at: int) -> None:
        """Send an event to all cores."""
        ...

    def serve(self) -> None:
        """Take what the log has that is new."""
        ...

    def restarts(self) -> int | None:
        """Return when the watchdog restarts the chip, if it is on."""
        ...
