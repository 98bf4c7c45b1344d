# SPDX-License-Identifier: Apache-2.0
"""What a command need not make again: bytes in the cache folder that are whole, or not used."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from atoll.diagnostics.errors import UsageError
from atoll.utils.cache import cache_folder
from atoll.utils.files import write_bytes

MOST = 4000
"""Files of one kind; machine code takes some 10 KB each."""

_DIGEST = hashlib.sha256().digest_size


def keep_made(name: str, make: Callable[[], bytes]) -> bytes:
    """Return what is kept as `name`, else what `make` returns, and keep that.

    Args:
        name: path below the cache; equal names mean equal bytes.
        make: not called if the cache has a whole copy.
    """
    found = read_kept(name)
    if found is None:
        found = make()
        keep(name, found)
    return found


def read_kept(name: str) -> bytes | None:
    """Return what is kept as `name`; None if there is nothing, or it is damaged."""
    try:
        data = (cache_folder() / name).read_bytes()
    except OSError:
        return None
    digest, found = data[:_DIGEST], data[_DIGEST:]
    return found if hashlib.sha256(found).digest() == digest else None


def keep(name: str, data: bytes) -> None:
    """Keep `data` as `name`, unless the cache folder is not writable."""
    path = cache_folder() / name
    with suppress(OSError, UsageError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, hashlib.sha256(data).digest() + data)
        _forget_oldest(path.parent)


def _forget_oldest(folder: Path) -> None:
    """Leave the newest three quarters of `MOST` files where there are more of them."""
    if len(paths := [*folder.iterdir()]) > MOST:
        paths.sort(key=lambda path: path.stat().st_mtime_ns)
        for path in paths[: -MOST * 3 // 4]:
            path.unlink(missing_ok=True)


def name_of(*parts: bytes | str) -> str:
    """Return a name for what depends on `parts` alone."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
