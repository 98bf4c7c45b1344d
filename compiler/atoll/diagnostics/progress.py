# SPDX-License-Identifier: Apache-2.0
"""How work tells what it is busy with and how far it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Progress(Protocol):
    """Takes one line after another; each replaces the one before."""

    def __call__(self, what: str, /, *, left: float | None = None) -> None:
        """Say what goes on.

        Args:
            what: what it is and how far, in a line.
            left: seconds that all of it still takes; None as long as that is not known.
        """
        ...


def silent(what: str, /, *, left: float | None = None) -> None:
    """Take a line and show it to nobody."""


_current: ContextVar[Progress] = ContextVar("_current", default=silent)


@contextmanager
def report_to(progress: Progress) -> Iterator[None]:
    """Let `tell` reach `progress` until the block ends."""
    token = _current.set(progress)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Progress:
    """Return whoever listens."""
    return _current.get()


def tell(what: str, /, *, left: float | None = None) -> None:
    """Say what goes on to whoever listens, from places to which no `Progress` is handed."""
    _current.get()(what, left=left)


_announce: ContextVar[Callable[[str], None]] = ContextVar("_announce", default=silent)


@contextmanager
def announce_to(show: Callable[[str], None]) -> Iterator[None]:
    """Let `announce` reach `show` until the block ends."""
    token = _announce.set(show)
    try:
        yield
    finally:
        _announce.reset(token)


def announce(what: str) -> None:
    """Say something that stays, to whoever listens."""
    _announce.get()(what)


def line(what: str, left: float | None) -> str:
    """Return what all progress looks like: what, how far, how long still."""
    if left is None:
        return f"{what}, time left not known yet"
    return f"{what}, {about(left)} left" if left >= 0 else f"{what}, longer than expected"


def duration(seconds: float) -> str:
    """Return a time as people say it: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Steps:
    """Tells how far work is whose steps are alike: the rest goes on as those that have ended."""

    def __init__(
        self, total: int, progress: Progress, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total, self._progress, self._clock = total, progress, clock
        self._begin = clock()

    def tell(self, done: int, what: str) -> None:
        """Say that so many have ended; `what` is as in `Progress`."""
        spent = self._clock() - self._begin
        self._progress(what, left=spent * (self._total - done) / done if done else None)


def about(seconds: float) -> str:
    """Return a time that is only known roughly: ``under 1 s``, ``about 8 s``."""
    return f"about {duration(seconds)}" if round(seconds) else "under 1 s"
