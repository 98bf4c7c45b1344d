# SPDX-License-Identifier: Apache-2.0
"""What firmware and the platform say to each other: registers, requests, trace events, statuses.

The one place of these numbers (docs/platform.md): C headers, RTL and the simulator's C++ are made
from it.
"""

from enum import IntEnum

from atoll.records import dataclass

OPERATOR_BITS, DEVICE_BITS = 16, 8
"""A word of TRACE has the operator lowest, then the device, then the event."""


class ConsoleRegister(IntEnum):
    """Offsets of the console's registers."""

    UART_TX = 0x00
    EXIT = 0x04
    TRACE = 0x08
    REQUEST = 0x0C
    RESULT = 0x10


class GuardRegister(IntEnum):
    """Offsets of the guard's registers; from FIRST on there are two words for each device."""

    STATUS = 0x000
    IRQ_ENABLE = 0x004
    PERIOD = 0x008
    KICK = 0x00C
    RESTARTED = 0x010
    FIRST = 0x100


class Request(IntEnum):
    """What REQUEST reads as: the wish of the test bench."""

    NONE = 0
    RUN = 1
    LEAVE = 2


class TraceEvent(IntEnum):
    """What a word of TRACE is about."""

    OPERATOR_BEGIN = 1
    OPERATOR_END = 2
    READY = 3
    RUN_BEGIN = 4
    RUN_END = 5


SERIAL_VERSION = 1
SERIAL_DATA = 64
"""The most bytes of data in a message of the serial protocol (docs/board.md)."""
SERIAL_REPLY = 0x80
"""In the type of a message: it answers a request of this type."""


USUAL_BAUD = 115200
"""Of a serial line to a board."""


class SerialMessage(IntEnum):
    """Types of messages of the serial protocol; a board sends TEXT and REPEAT unasked."""

    HELLO = 1
    NAME = 2
    RESET = 3
    WRITE = 4
    RUN = 5
    READ = 6
    TIMES = 7
    STACKS = 8
    TEXT = 0x40
    REPEAT = 0x41


class Status(IntEnum):
    """What every call of the runtime, of drivers and of models returns.

    Attributes:
        text: what it means.
    """

    text: str

    def __new__(cls, value: int, text: str) -> "Status":
        """Keep the text beside the number."""
        made = int.__new__(cls, value)
        made._value_ = value
        made.text = text
        return made

    OK = 0, "done"
    NO_DEVICE = -1, "no such device"
    WRONG_DEVICE = -2, "the registers belong to another device"
    BUSY = -3, "the device is busy"
    TIMEOUT = -4, "the device did not answer in time"
    DEVICE = -5, "the device stopped with an error"
    ARGUMENT = -6, "an argument is out of range"
    NO_MEMORY = -7, "the workspace is too small"
    ORDER = -8, "only the latest block or a started device can end"
    VIOLATION = -9, "a device touched memory that it may not touch"
    BUS = -10, "the bus failed an access of a device"

    @property
    def c_name(self) -> str:
        """Its name in C."""
        return f"ATOLL_ERROR_{self.name}" if self else f"ATOLL_{self.name}"


@dataclass(frozen=True, slots=True)
class Trace:
    """A word of TRACE.

    Attributes:
        event: a `TraceEvent`, if the firmware keeps to the protocol.
        operator: its number.
        device: its ordinal.
    """

    event: int
    operator: int = 0
    device: int = 0

    @classmethod
    def of(cls, word: int) -> "Trace":
        """Return what `word` says."""
        rest, operator = divmod(word, 1 << OPERATOR_BITS)
        event, device = divmod(rest, 1 << DEVICE_BITS)
        return cls(event, operator, device)

    def word(self) -> int:
        """Return the word that says this."""
        return (self.event << DEVICE_BITS | self.device) << OPERATOR_BITS | self.operator
