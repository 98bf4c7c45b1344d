# SPDX-License-Identifier: Apache-2.0
"""Paths of files in a package: plain on every file system, never outside it."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from atoll.diagnostics.errors import Fault, ToolchainError

_PART = re.compile(r"[A-Za-z_][\w.,+-]*|\.[a-z][\w.-]*", re.ASCII)


def is_path(path: PurePosixPath) -> bool:
    """Return whether a path stays in its folder and every part of it is plain."""
    parts = path.parts
    return bool(parts) and all(_PART.fullmatch(part) and ".." not in part for part in parts)


def refuse_path_clashes(named: Iterable[tuple[str, str]]) -> None:
    """Check that no two emitters write one file; a file system may not tell cases apart.

    Args:
        named: (path, emitter) of each file.

    Raises:
        ToolchainError: E075.
    """
    owners: dict[str, tuple[str, str]] = {}
    faults = []
    for path, emitter in named:
        first, owner = owners.setdefault(path.lower(), (path, emitter))
        if (first, owner) != (path, emitter):
            message = f"emitters '{owner}' and '{emitter}' would both write {path}"
            faults.append(Fault(code="E075", message=message, remedy="choose one with --only"))
    if faults:
        raise ToolchainError.all(faults)
