"""Run outside tools, and keep what they made."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from atoll.cache import cache_folder
from atoll.children import Done, run
from atoll.errors import ToolchainError
from atoll.files import unwritable
from atoll.scratch import temporary_folder

_TAIL_LINES = 20


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file `name` of the cache; if it is not there, let `make` write it first.

    Args:
        name: path below the cache; equal names mean equal bytes.
        make: writes the file that it is given; runs that overlap do not disturb each other.

    Raises:
        UsageError: E092, the cache is not writable.
    """
    path = cache_folder() / name
    if path.is_file():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder() as folder:
            fresh = folder / path.name
            make(fresh)
            fresh.replace(path)
    except OSError as fault:
        raise unwritable(path.parent, fault) from fault
    return path


def run_tool(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None
) -> Done:
    """Run `command` in `folder` and return its status and text, whatever the status is.

    Raises:
        ToolchainError: E070, the program cannot be started; E100, it does not end.
    """
    try:
        return run(command, folder=folder, environment={**os.environ, **(environment or {})})
    except OSError as fault:
        raise ToolchainError(
            "E070",
            f"cannot run '{command[0]}': {fault.strerror or fault}",
            remedy="run `atoll doctor` to see which tools are missing",
        ) from fault


def tail(text: str) -> str:
    """Return the last lines of a tool's output, indented for an error message."""
    lines = text.strip().splitlines()[-_TAIL_LINES:]
    return "\n".join(f"    {line}" for line in lines)
