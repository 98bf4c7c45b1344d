# SPDX-License-Identifier: Apache-2.0
"""Where temporary files go: one folder of the cache for each process, gone with it.

If a process is killed, its folder stays, and the next process that needs one removes it.
"""

import atexit
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock

from atoll.utils.cache import cache_folder
from atoll.utils.files import unwritable
from atoll.utils.held import held_folder

_own: dict[Path, Path] = {}
_ends = ExitStack()
_making = Lock()
atexit.register(_ends.close)


def scratch_folder() -> Path:
    """Return this process's own folder for temporary files.

    Raises:
        UsageError: E092, the cache is not writable.
    """
    parent = cache_folder() / "scratch"
    with _making:
        if parent not in _own or not _own[parent].is_dir():
            try:
                parent.mkdir(parents=True, exist_ok=True)
                _own[parent] = _ends.enter_context(held_folder(parent))
            except OSError as fault:
                raise unwritable(parent, fault) from fault
        return _own[parent]


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that is removed when the block ends.

    Raises:
        UsageError: E092, the cache is not writable.
    """
    with tempfile.TemporaryDirectory(dir=scratch_folder(), ignore_cleanup_errors=True) as folder:
        yield Path(folder)
