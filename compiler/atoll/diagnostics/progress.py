# SPDX-License-Identifier: Apache-2.0
"""How work tells what it is busy with and how far it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Progress(Protocol):
    """Takes one line after another; each replaces the one before."""

    def __call__(self, what: str, /, *, expected: float = 0.0) -> None:
        """Say what goes on.

        Args:
            what: one line, without the elapsed time, which is added where it is shown.
            expected: seconds that this step will take, where that is known before it begins.
        """
        ...


def silent(what: str, /, *, expected: float = 0.0) -> None:
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


def tell(what: str) -> None:
    """Say what goes on to whoever listens, from places to which no `Progress` is handed."""
    _current.get()(what)


def duration(seconds: float) -> str:
    """Return a time as people say it: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def remaining_text(done: int, total: int, seconds: float) -> str:
    """Say how long the rest will take if it goes on as so far; empty as long as nobody knows."""
    if not done or done >= total:
        return ""
    return f", {about(seconds * (total - done) / done)} left"


def about(seconds: float) -> str:
    """Return a time that is only known roughly: ``under 1 s``, ``about 8 s``."""
    return f"about {duration(seconds)}" if round(seconds) else "under 1 s"
