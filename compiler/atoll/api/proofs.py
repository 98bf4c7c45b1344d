# SPDX-License-Identifier: Apache-2.0
"""Formal proofs of who reaches what on a chip."""

from collections.abc import Callable
from typing import Any

from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.records import dataclass

SECONDS = 300
"""What a proof may take for one question, if not said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """Bytes that the description lets a device touch.

    Attributes:
        name: of a pool, a region of a core, or registers.
        first: the first byte's address, as the device sees it.
        last: the last byte's, likewise.
        write: it may write them, too.
    """

    name: str
    first: int
    last: int
    write: bool

    @property
    def seen(self) -> range:
        """Return all its addresses."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenAccess:
    """A request that breaks what was to be proven.

    Attributes:
        rule: which property.
        address: of the first byte, as the device sees it.
        size: bytes from the first that takes part to the last.
        write: whether it is a write.
        cycle: after reset.
    """

    rule: str
    address: int
    size: int
    write: bool
    cycle: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProof:
    """What came out for one device.

    Attributes:
        name: of the device.
        grants: what it may touch.
        proven: whether it reaches that and nothing else; None if the time was too short.
        broken: the shortest run that shows the contrary ends with it; None without one.
        seconds: of a processor.
    """

    name: str
    grants: tuple[Granted, ...]
    proven: bool | None
    broken: BrokenAccess | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return its part of what ``atoll prove --json`` prints."""
        access = self.broken
        return {
            "device": self.name,
            "proven": self.proven,
            "processor_seconds": round(self.seconds, 1),
            "grants": [
                {
                    "name": each.name,
                    "first_address": each.first,
                    "last_address": each.last,
                    "access": "rw" if each.write else "ro",
                }
                for each in self.grants
            ],
            "broken": access
            and {
                "rule": access.rule,
                "first_address": access.address,
                "size_bytes": access.size,
                "access": "write" if access.write else "read",
                "cycle": access.cycle,
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachProof:
    """Who reaches what on a chip, proven for runs of any length.

    Attributes:
        soc: the chip's name.
        devices: all that ask the bus for something.
    """

    soc: str
    devices: tuple[DeviceProof, ...]

    @property
    def passed(self) -> bool:
        """All is proven."""
        return all(device.proven for device in self.devices)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll prove --json`` prints."""
        return {
            "soc": self.soc,
            "passed": self.passed,
            "devices": [device.to_json() for device in self.devices],
        }


def prove(
    soc: SocSource,
    *,
    seconds: int = SECONDS,
    shown: Callable[[DeviceProof], None] | None = None,
) -> ReachProof:
    """Prove that each device reaches what the description of a chip lets it, and nothing else.

    Args:
        soc: the chip, or what `load_soc` takes. Its cores and accelerators need no RTL.
        seconds: what the proof of one device may take.
        shown: is called with each device as soon as it is proven or not.

    Raises:
        UsageError: E090, no simulator is installed; E252, no tools for proofs are.
        SimulationError: E080; the simulator cannot build the chip.
        ToolchainError: E077, E100; a tool failed.
    """
    prove_all = function_of("atoll_sim.formal.reach:prove_all", "prove")
    made: ReachProof = prove_all(load_soc(soc)._resolved, seconds, shown)
    return made
