# SPDX-License-Identifier: Apache-2.0
"""Take down what the self-test of a board prints on a serial line, until it ends."""

import time
from collections.abc import Iterator
from typing import Protocol

from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import Progress, announce, duration
from atoll_selftest.log import LAST, pieces_of, read_log

MOST = 64 * 1024 * 1024
"""Bytes of a log."""
MOST_STARTS = 4
"""A board that begins so often anew will not end; it may be reset by hand, too."""


class Line(Protocol):
    """A serial line."""

    path: str

    def read(self, deadline: float) -> bytes:
        """Return what has come; nothing if none came by a time of `time.monotonic`."""
        ...


def listen(line: Line, silence: float, progress: Progress) -> bytes:
    """Return what comes until a self-test ends, begins too often anew, or says nothing more.

    Args:
        line: where the board is.
        silence: seconds without a line of the self-test after which the board is given up.
        progress: told of each line.

    Raises:
        SimulationError: E272; nothing comes.
    """
    announce(f"listening at '{line.path}': reset the board")
    log = bytearray()
    starts = 0
    for text in _lines(line, silence, log):
        for piece in pieces_of(text):
            progress(f"selftest {piece.rest}" if piece.whole else "a damaged line")
            starts += piece.rest.startswith("begin ")
            if starts == MOST_STARTS or (piece.rest.startswith(LAST) and _is_over(log)):
                return bytes(log)
    if not log:
        raise SimulationError(
            "E272",
            f"nothing came from '{line.path}' in {duration(silence)}",
            remedy="flash firmware.selftest.elf (docs/selftest.md), check port, wires and --baud,"
            " and reset the board while this command listens",
        )
    return bytes(log)


def _lines(line: Line, silence: float, log: bytearray) -> Iterator[str]:
    """Yield each line when it has come, all of which is in `log`, as long as a self-test talks."""
    deadline = time.monotonic() + silence
    begun = b""
    while len(log) <= MOST and (data := line.read(deadline)):
        *whole, begun = (begun + data).split(b"\n")
        log += data
        for each in whole:
            text = each.decode(errors="replace")
            if any(pieces_of(text)):
                deadline = time.monotonic() + silence
            yield text


def _is_over(log: bytearray) -> bool:
    try:
        return read_log(log.decode(errors="replace"), "the line").over
    except UsageError:
        return False
