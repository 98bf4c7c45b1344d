# SPDX-License-Identifier: Apache-2.0
"""A serial port of this machine, as bytes; POSIX alone, without a package."""

import os
import select
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from atoll.diagnostics.errors import SimulationError, UsageError

_SOME = 4096


class Port:
    """An open serial port: 8 data bits, no parity, one stop bit, no flow control.

    Raises:
        UsageError: E271; there is no such port, it is somebody else's, or it has no such rate.
    """

    def __init__(self, path: str, baud: int) -> None:
        self.path, self.baud = path, baud
        try:
            self._file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as fault:
            raise UsageError(
                "E271",
                f"cannot open the serial port '{path}': {fault.strerror}",
                remedy="name the port that the board is at, which your user may open",
            ) from fault
        try:
            _prepare(self._file, path, baud)
        except UsageError:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import fcntl
        import termios

        with suppress(OSError):
            fcntl.ioctl(self._file, termios.TIOCNXCL)
        os.close(self._file)

    def read(self, deadline: float) -> bytes:
        """Return what has come, at least a byte; nothing if none came by the time `deadline`.

        Raises:
            SimulationError: E272; the port is gone.
        """
        ready, _, _ = select.select([self._file], [], [], max(0.0, deadline - time.monotonic()))
        try:
            data = os.read(self._file, _SOME) if ready else b""
        except OSError as fault:
            raise self._loss_error(fault.strerror) from fault
        if ready and not data:
            raise self._loss_error("end of file")
        return data

    def write(self, data: bytes, deadline: float) -> None:
        """Send bytes, as many as the line takes by the time `deadline`.

        Raises:
            SimulationError: E272; the port is gone.
        """
        while data:
            rest = max(0.0, deadline - time.monotonic())
            if not select.select([], [self._file], [], rest)[1]:
                return
            try:
                data = data[os.write(self._file, data) :]
            except OSError as fault:
                raise self._loss_error(fault.strerror) from fault

    def _loss_error(self, why: str | None) -> SimulationError:
        return SimulationError(
            "E272",
            f"the serial port '{self.path}' is gone: {why}",
            remedy="connect the board again",
        )


def _prepare(file: int, path: str, baud: int) -> None:
    """Make a port raw, at a rate, and forget what came before.

    Raises:
        UsageError: E271.
    """
    import fcntl
    import termios
    import tty

    rate = getattr(termios, f"B{baud}", None)
    if rate is None or baud == 0:
        remedy = "use a usual rate, such as 115200"
        raise UsageError("E271", f"no serial port has {baud} baud", remedy=remedy)
    try:
        tty.setraw(file)
        settings = termios.tcgetattr(file)
        settings[2] |= termios.CLOCAL | termios.CREAD
        settings[2] &= ~(termios.CSTOPB | termios.CRTSCTS)
        settings[4] = settings[5] = rate
        termios.tcsetattr(file, termios.TCSANOW, settings)
        fcntl.ioctl(file, termios.TIOCEXCL)
        termios.tcflush(file, termios.TCIOFLUSH)
    except (termios.error, OSError) as fault:
        raise UsageError(
            "E271",
            f"'{path}' is no serial port with {baud} baud: {fault.args[-1]}",
            remedy="name the port that the board is at, and its rate with --baud",
        ) from fault
