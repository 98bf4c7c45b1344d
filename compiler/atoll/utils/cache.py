# SPDX-License-Identifier: Apache-2.0
"""The folder of what need not be built twice, and one builder at a time for each part of it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from atoll.utils.files import unwritable


def cache_folder() -> Path:
    """Return ``$ATOLL_CACHE``, else where the system keeps caches, as ``~/.cache/atoll``."""
    chosen = os.environ.get("ATOLL_CACHE")
    return Path(chosen).absolute() if chosen else user_cache_path("atoll")


@contextmanager
def only_builder(target: Path) -> Iterator[None]:
    """Wait until no other process builds `target`, then keep others out until the block ends.

    Raises:
        UsageError: E092, the cache is not writable.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = (target.parent / f".{target.name}.lock").open("w")
    except OSError as fault:
        raise unwritable(target.parent, fault) from fault
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
