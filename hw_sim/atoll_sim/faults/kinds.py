"""The kinds of hardware faults, and one fault of them."""

from dataclasses import dataclass
from enum import StrEnum


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
    """

    kind: FaultKind
    offset: int
    action: str
    where: int
    what: int
    place: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.place}, {self.offset:,} cycles into the run"
