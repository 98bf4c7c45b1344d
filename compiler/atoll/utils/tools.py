# SPDX-License-Identifier: Apache-2.0
"""Run outside tools, and keep what they made."""

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from atoll.diagnostics.errors import ToolchainError
from atoll.utils.cache import cache_folder
from atoll.utils.children import Done, run
from atoll.utils.files import unwritable
from atoll.utils.scratch import scratch_folder, temporary_folder

_TAIL_LINES = 20


def cache_file(name: str, make: Callable[[Path], None]) -> Path:
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


def run_zig(*arguments: str, folder: Path) -> Done:
    """Run zig of the ziglang wheel in `folder`, as `run_tool`.

    Raises:
        ToolchainError: E070, it is not installed; E100, it does not end.
    """
    places = {
        "ZIG_GLOBAL_CACHE_DIR": str(cache_folder() / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(scratch_folder() / "zig"),
    }
    program = str(ziglang().locate_file("ziglang/zig"))
    return run_tool((program, *arguments), folder=folder, environment=places)


def ziglang() -> Distribution:
    """Return the wheel whose program is a C compiler and a linker for many cores.

    Raises:
        ToolchainError: E070, it is not installed.
    """
    try:
        return distribution("ziglang")
    except PackageNotFoundError as fault:
        raise ToolchainError(
            "E070",
            "the package 'ziglang' is not installed",
            remedy="install it with `pip install ziglang`, or use --toolchain gcc",
        ) from fault


def tail(text: str) -> str:
    """Return the last lines of a tool's output, indented for an error message."""
    lines = text.strip().splitlines()[-_TAIL_LINES:]
    return "\n".join(f"    {line}" for line in lines)
