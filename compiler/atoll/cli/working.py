# SPDX-License-Identifier: Apache-2.0
"""Show on standard error what a command is busy with: a live line, or a line now and then."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from atoll.diagnostics.progress import Progress, announce_to, duration, line, report_to
from atoll.diagnostics.shown import columns_of, printable, window

SECONDS_BETWEEN = 5.0
"""Between two lines where standard error is no terminal; quicker work prints none."""
LIVE_SECONDS = 0.5

_DUMB = ("dumb", "unknown")
_COLUMNS = 80
_CLEAR = "\r\x1b[K"


@contextmanager
def show_work(first: str) -> Iterator[Progress]:
    """Show that `first` goes on until the block ends, and then each line that is told."""
    shown = Shown(first)
    over = Event()
    thread = Thread(target=_live if _alive() else _lines, args=(shown, over), daemon=True)
    thread.start()
    try:
        with report_to(shown.tell), announce_to(_announce):
            yield shown.tell
    finally:
        over.set()
        thread.join()


def _alive() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") not in _DUMB


class Shown:
    """What is to be shown at the moment; what is known to take long is announced on a pipe."""

    def __init__(self, first: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = printable(first)
        self._left: float | None = None
        self._clock = clock
        self._begin = self._told = clock()
        self._announced = _alive()

    def tell(self, what: str, /, *, left: float | None = None) -> None:
        """See `Progress`."""
        self._what, self._left, self._told = printable(what), left, self._clock()
        if not self._announced and left is not None and left >= SECONDS_BETWEEN:
            self._announced = True
            _print(self.text)

    @property
    def text(self) -> str:
        """The line of now."""
        return f"{self._what}{self._times}"

    def within(self, width: int) -> str:
        """Return the text in at most `width` columns, the times at its end."""
        what = window(self._what, 0, max(4, width - columns_of(self._times)))[0]
        return window(f"{what}{self._times}", 0, width)[0]

    @property
    def _times(self) -> str:
        """How long still, by what was told last, and how long so far."""
        now = self._clock()
        left = None if self._left is None else self._left - (now - self._told)
        return f"{line('', left)} ({duration(now - self._begin)})"


def _lines(shown: Shown, over: Event) -> None:
    while not over.wait(SECONDS_BETWEEN):
        _print(shown.text)


def _live(shown: Shown, over: Event) -> None:
    try:
        while not over.wait(LIVE_SECONDS):
            text = shown.within(_columns() - 1)
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
    finally:
        print(_CLEAR, end="", file=sys.stderr, flush=True)


def _announce(what: str) -> None:
    _print(f"{_CLEAR if _alive() else ''}{printable(what)}")


def _columns() -> int:
    """Return how many columns the terminal has: what is left of a longer line stays on it."""
    return os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
