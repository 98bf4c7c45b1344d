# SPDX-License-Identifier: Apache-2.0
"""The kinds of hardware faults, and one fault of them."""

from enum import StrEnum

from atoll.records import dataclass

RESPONSES = {2: "SLVERR", 3: "DECERR"}
"""Errors that an AXI response may be, by number."""


class FaultKind(StrEnum):
    """What goes wrong in the chip.

    Of the last kind no hardware here can know: memories have no check bits.
    """

    READ_ERROR = "axi read error"
    WRITE_ERROR = "axi write error"
    STALL = "stalled memory"
    SILENCE = "silent memory"
    LOST_INTERRUPT = "lost interrupt"
    HANG = "hanging device"
    DESCRIPTOR = "corrupted descriptor"
    RESET = "reset"
    BIT_FLIP = "bit flip in a buffer"

    @property
    def detectable(self) -> bool:
        """The hardware can know of it, so that a wrong result must not count as right."""
        return self is not FaultKind.BIT_FLIP


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault that befalls the chip once.

    Attributes:
        offset: cycles from the beginning of the run.
        action: what `fault_main.cpp` does: read, write, stall, mute, hang, flip or reset.
        where: number of the master, of the memory, of the interrupt line, or an address.
        what: AXI response, cycles (0: until the chip restarts), or bit of the byte.
        place: `where` as a person calls it.
        at: ``FILE:LINE:COLUMN`` of the device, memory or pool; empty if no file sets it.
    """

    kind: FaultKind
    offset: int
    action: str
    where: int
    what: int
    place: str
    at: str = ""

    def __str__(self) -> str:
        when = f"{self.offset:,} cycles into the run"
        where = f", {self.at}" if self.at else ""
        return f"{self.kind}: {self._what}, {when}{where}"

    @property
    def _what(self) -> str:
        """What happens to which part."""
        name = f"'{self.place}'"
        match self.action:
            case "read" | "write":
                return f"a {self.action} of {name} is answered with {RESPONSES[self.what]}"
            case "stall" if self.what:
                return f"{name} takes no request for {self.what} cycles"
            case "stall":
                return f"{name} takes no request any more"
            case "mute":
                return f"the interrupt of {name} stays low"
            case "hang":
                return f"{name} asks the bus for nothing any more"
            case "reset":
                return f"the chip is reset for {self.what} cycles"
        return f"{self.place} of the byte at {self.where:#010x} flips"
