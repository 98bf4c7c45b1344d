# SPDX-License-Identifier: Apache-2.0
"""Show on standard error what a command is busy with: a live line, or a line now and then."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from atoll.cli.output import log_room
from atoll.diagnostics.progress import Progress, duration, report_to

SECONDS_BETWEEN = 5.0
"""Between two lines where standard error is no terminal; quicker work prints none."""
LIVE_SECONDS = 0.5

_DUMB = ("dumb", "unknown")
_COLUMNS = 80


@contextmanager
def show_work(first: str) -> Iterator[Progress]:
    """Show that `first` goes on until the block ends, and then each line that is told."""
    shown = _Shown(first)
    over = Event()
    thread = Thread(target=_live if _alive() else _lines, args=(shown, over), daemon=True)
    thread.start()
    try:
        with report_to(shown.tell):
            yield shown.tell
    finally:
        over.set()
        thread.join()


def _alive() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") not in _DUMB


class _Shown:
    """What is to be shown at the moment."""

    def __init__(self, first: str) -> None:
        self._what = first
        self._begin = time.monotonic()

    def tell(self, what: str, /, *, expected: float = 0.0) -> None:
        self._what = what
        if expected >= SECONDS_BETWEEN and not _alive():
            _print(self.text)

    @property
    def text(self) -> str:
        return f"{self._what} {self._elapsed}"

    def within(self, width: int) -> str:
        """Return the text in at most `width` columns, the elapsed time at its end."""
        room = max(1, width - len(self._elapsed) - 1)
        what = self._what if len(self._what) <= room else f"{self._what[: room - 3]}..."
        return f"{what} {self._elapsed}"

    @property
    def _elapsed(self) -> str:
        return f"({duration(time.monotonic() - self._begin)})"


def _lines(shown: _Shown, over: Event) -> None:
    while not over.wait(SECONDS_BETWEEN):
        _print(shown.text)


def _live(shown: _Shown, over: Event) -> None:
    try:
        while not over.wait(LIVE_SECONDS):
            print(
                f"\r{shown.within((log_room() or _COLUMNS) - 1)}\x1b[K",
                end="",
                file=sys.stderr,
                flush=True,
            )
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
