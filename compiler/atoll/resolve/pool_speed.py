# SPDX-License-Identifier: Apache-2.0
"""How fast a pool is. Plain data, no rules."""

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSpeed:
    """How fast a pool is read and written; estimates of placement use it, nothing else.

    Attributes:
        read_bandwidth, write_bandwidth: bytes per cycle.
        latency: cycles from the request of a burst to its first data.
        burst: most bytes of one burst, 0 if there is no limit.
        clock: hertz; what cycles are counted in.
    """

    read_bandwidth: int
    write_bandwidth: int
    latency: int
    burst: int
    clock: int

    def read_cycles(self, size: int) -> int:
        """Return the cycles that reading `size` bytes takes."""
        return self._wait_cycles(size) + -(-size // self.read_bandwidth)

    def write_cycles(self, size: int) -> int:
        """Return the cycles that writing `size` bytes takes."""
        return self._wait_cycles(size) + -(-size // self.write_bandwidth)

    def _wait_cycles(self, size: int) -> int:
        bursts = -(-size // self.burst) if self.burst else 1
        return self.latency * bursts
