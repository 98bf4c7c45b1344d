# SPDX-License-Identifier: Apache-2.0
"""Requests to a board, each repeated until its answer has come undamaged."""

import secrets
import struct
import time
from collections import deque

from atoll.diagnostics.errors import SimulationError
from atoll.protocol import SERIAL_REPLY, SerialMessage
from atoll.records import dataclass
from atoll_sim.board.frames import Deframer, frame_of
from atoll_sim.board.port import Port

TRIES = 64
SILENT_TRIES, FIRST_TRIES = 8, 5
"""In a row without a frame from the board, after which nobody is there; before its first answer."""

WAIT = 0.3
"""Seconds that a board may think, beside what a request takes and the line needs; twice as long
after each try to which it was silent."""

_HEAD = struct.Struct("<HB")
_STATUS = struct.Struct("<i")
_NUMBERS = 1 << 16
_LONGEST = 200
"""Bytes of a request and its answer on the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a board answered: a status of `atoll.protocol`, and data."""

    status: int
    data: bytes


class Link:
    """The line to a board; one request is under way at a time.

    Attributes:
        requests: that were answered.
        repeated: how often one was sent again.
        text: what the board printed.
    """

    def __init__(self, port: Port) -> None:
        self.requests = self.repeated = 0
        self.text = ""
        self._port = port
        self._number = secrets.randbelow(_NUMBERS)
        self._deframer = Deframer()
        self._waiting: deque[bytes | None] = deque()

    def ask(self, kind: SerialMessage, body: bytes = b"", *, seconds: float = 0.0) -> Answer:
        """Send a request until its answer is there.

        Args:
            kind: of the request.
            body: its arguments and data.
            seconds: that the board may need for it.

        Raises:
            SimulationError: E272; nobody answers, or no answer comes undamaged.
        """
        self._number = (self._number + 1) % _NUMBERS
        frame = frame_of(_HEAD.pack(self._number, kind) + body)
        wait = WAIT + 10 * _LONGEST / self._port.baud + seconds
        silent = 0
        for attempt in range(TRIES):
            self.repeated += attempt > 0
            deadline = time.monotonic() + wait * 2**silent
            self._port.write(frame, deadline)
            heard, answer = self._await(kind, deadline)
            if answer is not None:
                self.requests += 1
                return answer
            silent = 0 if heard else silent + 1
            if silent == (SILENT_TRIES if self.requests else FIRST_TRIES):
                raise self._error(kind, "nothing answers")
        raise self._error(kind, "no answer comes undamaged")

    def _await(self, kind: SerialMessage, deadline: float) -> tuple[bool, Answer | None]:
        """Return whether a frame came, and the answer; None as soon as it is to be asked again."""
        heard = False
        while True:
            while not self._waiting:
                data = self._port.read(deadline)
                if not data:
                    return heard, None
                self._waiting.extend(self._deframer.feed(data))
            heard, message = True, self._waiting.popleft()
            if message is None or len(message) < _HEAD.size:
                return heard, None
            number, told = _HEAD.unpack_from(message)
            rest = message[_HEAD.size :]
            if told == SerialMessage.REPEAT:
                return heard, None
            if told == SerialMessage.TEXT:
                self.text += rest.decode(errors="replace")
            elif (number, told) == (self._number, kind | SERIAL_REPLY):
                if len(rest) < _STATUS.size:
                    return heard, None
                [status] = _STATUS.unpack_from(rest)
                return heard, Answer(status=status, data=rest[_STATUS.size :])

    def _error(self, kind: SerialMessage, what: str) -> SimulationError:
        if not self.requests:
            remedy = "flash firmware.serial.elf (docs/board.md), and check port, wires and --baud"
        else:
            remedy = "check the line; a core that trapped no longer answers"
        asked = f"to {kind.name} after {self.requests:,} requests"
        return SimulationError("E272", f"{what} at '{self._port.path}' {asked}", remedy=remedy)
