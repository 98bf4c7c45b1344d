# SPDX-License-Identifier: Apache-2.0
"""Temporary folders and files that a process holds as long as it lives.

Their names contain `MARK`, and their process keeps them locked. A lock ends with its process,
however that ends, so what is not locked was left behind: whoever makes the next one beside it
removes it first.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = ".atoll-"
PATIENCE = 5.0
"""Seconds to wait for others who make a name beside ours."""

_ours: set[str] = set()
"""Folders that this process holds."""


@contextmanager
def held_folder(parent: Path, name: str = "") -> Iterator[Path]:
    """Yield a new folder in `parent`, which must exist; it is removed when the block ends.

    Args:
        parent: what earlier processes left there under the same `name` is removed.
        name: what the folder's name begins with, before `MARK`.
    """
    with _alone(parent):
        _sweep(parent, name)
        folder = Path(tempfile.mkdtemp(dir=parent, prefix=f"{name}{MARK}"))
        lock = _lock(folder)
    held = os.path.realpath(folder)
    _ours.add(held)
    try:
        yield folder
    finally:
        _ours.discard(held)
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def held_file(parent: Path, name: str) -> Iterator[Path]:
    """Yield a new, empty file in `parent`, as `held_folder` does a folder."""
    with _alone(parent):
        _sweep(parent, name)
        number, path = tempfile.mkstemp(dir=parent, prefix=f"{name}{MARK}")
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield Path(path)
    finally:
        Path(path).unlink(missing_ok=True)
        os.close(number)


@contextmanager
def _alone(parent: Path) -> Iterator[None]:
    """Keep others from sweeping `parent` between the making of a name and its lock.

    In a folder that this process holds, and so has locked, there are no others.
    """
    number = None
    if os.path.realpath(parent) not in _ours:
        with suppress(OSError):
            number = os.open(parent, os.O_RDONLY)
            _lock_soon(number)
    try:
        yield
    finally:
        if number is not None:
            os.close(number)


def _lock_soon(number: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.005)
        else:
            return


def _sweep(parent: Path, name: str) -> None:
    """Remove what processes that are gone left in `parent` under `name`."""
    with suppress(OSError):
        left = [path for path in parent.iterdir() if path.name.startswith(f"{name}{MARK}")]
        for path in left:
            _remove_unheld(path)


def _remove_unheld(path: Path) -> None:
    lock = _lock(path)
    if lock is None:
        return
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    os.close(lock)


def _lock(path: Path) -> int | None:
    """Return an open file that locks `path`, or None if somebody else's does."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number
